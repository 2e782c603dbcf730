// LLVM's passes that the C interface cannot run as we need them.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

extern "C" {

// Finds the address space that pointers of address space `generic` come from, in all functions. The textual form of the pass
// asks the target which space is the generic one, and SPIR has no target in LLVM.
void gencl_infer_address_spaces(LLVMModuleRef raw, unsigned generic) {
  llvm::Module &module = *llvm::unwrap(raw);
  Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InferAddressSpacesPass(generic));
  for (llvm::Function &function : module) {
    if (!function.isDeclaration()) {
      passes.run(function, analyses.functions);
    }
  }
}

} // extern "C"
