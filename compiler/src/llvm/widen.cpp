// Half floats where the hardware has no arithmetic on them, only conversions from and to floats: Such
// programs only have `vload_half` and `vstore_half`, but LLVM narrows the arithmetic between the two, and
// converts bit operations to operations on signs.

#include <llvm-c/Core.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace {

// The sign bit.
constexpr uint64_t SIGN = 0x8000;

bool is_half(llvm::Type *type) { return type->getScalarType()->isHalfTy(); }

// The type with another element type: a scalar, or a vector of the same length.
llvm::Type *with_element(llvm::Type *type, llvm::Type *element) {
  auto *vector = llvm::dyn_cast<llvm::VectorType>(type);
  return vector ? llvm::VectorType::get(element, vector->getElementCount()) : element;
}

llvm::Intrinsic::ID intrinsic(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
}

// Whether an instruction is arithmetic on half floats. Not if it moves them, converts them from or to other
// floats, which the hardware does in one correctly rounded step, accesses their bits, or calls one of our
// functions.
bool computes(const llvm::Instruction &instruction) {
  if (!is_half(instruction.getType()) && llvm::none_of(instruction.operand_values(), [](auto *value) { return is_half(value->getType()); })) {
    return false;
  }
  switch (instruction.getOpcode()) {
  case llvm::Instruction::FNeg:
  case llvm::Instruction::FCmp:
  case llvm::Instruction::FPToSI:
  case llvm::Instruction::FPToUI:
  case llvm::Instruction::SIToFP:
  case llvm::Instruction::UIToFP:
    return true;
  case llvm::Instruction::Call:
    switch (intrinsic(instruction)) {
    case llvm::Intrinsic::not_intrinsic:
    case llvm::Intrinsic::is_fpclass:
    case llvm::Intrinsic::arithmetic_fence:
      return false;
    default:
      return true;
    }
  default:
    return instruction.isBinaryOp();
  }
}

// Lowers operations on the sign to bit operations, which keep signalling NaNs. Null for everything else.
llvm::Value *sign_operation(llvm::IRBuilder<> &builder, llvm::Instruction &instruction) {
  llvm::Type *bits = with_element(instruction.getType(), builder.getInt16Ty());
  auto operand = [&](unsigned index) { return builder.CreateBitCast(instruction.getOperand(index), bits); };
  auto magnitude = [&](unsigned index) { return builder.CreateAnd(operand(index), SIGN - 1); };
  llvm::Value *result;
  if (instruction.getOpcode() == llvm::Instruction::FNeg) {
    result = builder.CreateXor(operand(0), SIGN);
  } else if (intrinsic(instruction) == llvm::Intrinsic::fabs) {
    result = magnitude(0);
  } else if (intrinsic(instruction) == llvm::Intrinsic::copysign) {
    result = builder.CreateOr(magnitude(0), builder.CreateAnd(operand(1), SIGN));
  } else {
    return nullptr;
  }
  return builder.CreateBitCast(result, instruction.getType());
}

// The same operation in a wider type, with its result rounded to a half float. Floats have more than twice a
// half float's digits, so that double rounding is correct for sums, products, quotients and square roots.
// Fused multiply-add needs doubles.
llvm::Value *widened(llvm::IRBuilder<> &builder, llvm::Instruction &instruction) {
  auto id = intrinsic(instruction);
  bool sum_of_product = id == llvm::Intrinsic::fma || id == llvm::Intrinsic::fmuladd;
  llvm::Type *element = sum_of_product ? builder.getDoubleTy() : builder.getFloatTy();
  auto wide = [&](llvm::Type *type) { return is_half(type) ? with_element(type, element) : type; };

  llvm::Instruction *result = instruction.clone();
  for (llvm::Use &use : result->operands()) {
    if (is_half(use->getType())) {
      use.set(builder.CreateFPExt(use, wide(use->getType())));
    }
  }
  result->mutateType(wide(instruction.getType()));
  if (auto *call = llvm::dyn_cast<llvm::CallInst>(result)) {
    llvm::SmallVector<llvm::Type *> parameters, overloaded;
    for (llvm::Use &argument : call->args()) {
      parameters.push_back(argument->getType());
    }
    auto *signature = llvm::FunctionType::get(call->getType(), parameters, false);
    llvm::Intrinsic::getIntrinsicSignature(id, signature, overloaded);
    call->setCalledFunction(llvm::Intrinsic::getDeclaration(instruction.getModule(), id, overloaded));
  }
  builder.Insert(result);
  return is_half(instruction.getType()) ? builder.CreateFPTrunc(result, instruction.getType()) : result;
}

} // namespace

extern "C" {

// Widens all arithmetic on half floats. LLVM passes that narrow operations must not run after this.
void gencl_widen_halves(LLVMModuleRef module) {
  for (llvm::Function &function : *llvm::unwrap(module)) {
    llvm::SmallVector<llvm::Instruction *> found;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      if (computes(instruction)) {
        found.push_back(&instruction);
      }
    }
    for (llvm::Instruction *instruction : found) {
      llvm::IRBuilder<> builder(instruction);
      llvm::Value *result = sign_operation(builder, *instruction);
      instruction->replaceAllUsesWith(result ? result : widened(builder, *instruction));
      instruction->eraseFromParent();
    }
  }
}

} // extern "C"
