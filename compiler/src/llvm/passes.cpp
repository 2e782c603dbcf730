// Functions that the C interface lacks: a pass that it cannot configure, the bits of large constants, functions of debug
// locations.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

extern "C" {

// Infers the address spaces of generic pointers in all functions. The pass in textual form gets the number of
// the generic address space from the target, and SPIR has none in LLVM.
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

// In functions with half floats, hides large integers that are converted to floats from LLVM. `instcombine`
// assumes that a conversion of an integer with few significant bits to half is exact, however large it is
// (`isKnownExactCastIntToFP`), so that a value that overflows to infinity would not when it is extended
// again.
void gencl_hide_integers(LLVMModuleRef raw) {
  auto is_half = [](const llvm::Instruction &instruction) { return instruction.getType()->getScalarType()->isHalfTy(); };
  for (llvm::Function &function : *llvm::unwrap(raw)) {
    if (llvm::none_of(llvm::instructions(function), is_half)) {
      continue;
    }
    llvm::SmallVector<llvm::Instruction *> conversions;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::UIToFPInst, llvm::SIToFPInst>(instruction) && instruction.getOperand(0)->getType()->getScalarSizeInBits() > 16) {
        conversions.push_back(&instruction);
      }
    }
    for (llvm::Instruction *conversion : conversions) {
      llvm::IRBuilder<> builder(conversion->getNextNode());
      auto *fence = llvm::cast<llvm::Instruction>(builder.CreateArithmeticFence(conversion, conversion->getType()));
      conversion->replaceUsesWithIf(fence, [&](llvm::Use &use) { return use.getUser() != fence; });
    }
  }
}

// Up to 64 bits of a constant integer, from bit `first` on; bits beyond its end are zero.
uint64_t gencl_constant_bits(LLVMValueRef constant, unsigned first, unsigned count) {
  const llvm::APInt &value = llvm::unwrap<llvm::ConstantInt>(constant)->getValue();
  return value.getBitWidth() <= first ? 0 : value.extractBitsAsZExtValue(std::min(count, value.getBitWidth() - first), first);
}

// The function of a local scope of debug information.
LLVMMetadataRef gencl_subprogram(LLVMMetadataRef scope) {
  auto *local = llvm::dyn_cast_or_null<llvm::DILocalScope>(llvm::unwrap(scope));
  return local ? llvm::wrap(local->getSubprogram()) : nullptr;
}

// The name of a function of debug information, and its length in bytes.
const char *gencl_subprogram_name(LLVMMetadataRef subprogram, unsigned *length) {
  llvm::StringRef name = llvm::cast<llvm::DISubprogram>(llvm::unwrap(subprogram))->getName();
  *length = name.size();
  return name.data();
}

} // extern "C"
