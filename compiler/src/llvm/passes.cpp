// Functions that the C interface lacks: a pass that it cannot configure, the bits of large constants, functions of debug
// locations.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

namespace {

constexpr unsigned GLOBAL = 1;

// Whether a value is, or a constant has in it, a cast of a pointer that is not global to a generic one.
bool makes_generic(const llvm::Value *value, unsigned generic) {
  if (const auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(value)) {
    if (cast->getDestAddressSpace() == generic && cast->getSrcAddressSpace() != GLOBAL) {
      return true;
    }
  }
  const auto *constant = llvm::dyn_cast<llvm::ConstantExpr>(value);
  return constant && llvm::any_of(constant->operands(), [=](const llvm::Use &use) { return makes_generic(use, generic); });
}

bool makes_generic(const llvm::Function &function, unsigned generic) {
  return llvm::any_of(llvm::instructions(function), [=](const llvm::Instruction &instruction) {
    return makes_generic(&instruction, generic) ||
           llvm::any_of(instruction.operands(), [=](const llvm::Use &use) { return makes_generic(use, generic); });
  });
}

// Tells LLVM that generic pointers from memory and integers are global ones. Returns whether there were any.
bool assume_global(llvm::Function &function, unsigned generic) {
  llvm::SmallVector<llvm::Instruction *> unknown;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::LoadInst, llvm::IntToPtrInst, llvm::ExtractValueInst>(instruction) && instruction.getType()->isPointerTy() &&
        instruction.getType()->getPointerAddressSpace() == generic) {
      unknown.push_back(&instruction);
    }
  }
  for (llvm::Instruction *instruction : unknown) {
    llvm::IRBuilder<> builder(instruction->getNextNode());
    llvm::Value *global = builder.CreateAddrSpaceCast(instruction, llvm::PointerType::get(function.getContext(), GLOBAL));
    llvm::Value *again = builder.CreateAddrSpaceCast(global, instruction->getType());
    instruction->replaceUsesWithIf(again, [=](const llvm::Use &use) { return use.getUser() != global; });
  }
  return !unknown.empty();
}

} // namespace

extern "C" {

// Infers the address spaces of generic pointers in all functions. The pass in textual form gets the number of
// the generic address space from the target, and SPIR has none in LLVM.
// In a function that makes no generic pointer of a private or local one, those that it reads are global: pointers to
// the memory of other work-groups and launches are not valid (OpenCL C 3.0, 6.7.5).
void gencl_infer_address_spaces(LLVMModuleRef raw, unsigned generic) {
  llvm::Module &module = *llvm::unwrap(raw);
  Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InferAddressSpacesPass(generic));
  for (llvm::Function &function : module) {
    if (!function.isDeclaration()) {
      passes.run(function, analyses.functions);
      if (!makes_generic(function, generic) && assume_global(function, generic)) {
        passes.run(function, analyses.functions);
      }
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
