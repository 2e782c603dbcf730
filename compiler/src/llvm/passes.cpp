// What the C interface lacks: a pass that it cannot run as we need it, the bits of large constants.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/IR/Constants.h>
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

// Up to 64 bits of a constant integer, from bit `first` on; those behind its end are zero.
uint64_t gencl_constant_bits(LLVMValueRef constant, unsigned first, unsigned count) {
  const llvm::APInt &value = llvm::unwrap<llvm::ConstantInt>(constant)->getValue();
  return value.getBitWidth() <= first ? 0 : value.extractBitsAsZExtValue(std::min(count, value.getBitWidth() - first), first);
}

} // extern "C"
