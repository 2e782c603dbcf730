// Promotes small private arrays with dynamic indices to vectors in registers.
//
// An access is then a comparison and a selection for each element, instead of a message that accesses a cache
// line for each lane (as in LLVM's AMDGPUPromoteAlloca). Arrays whose indices are all constant are already in
// registers.

#include <llvm-c/Core.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

namespace {

// Maximum size of an array. For larger ones, selections cost more than messages.
constexpr uint64_t most_elements = 8;
constexpr uint64_t most_bytes = 32;

// An offset in the array in bytes: a constant plus multiples of values.
struct Place {
  llvm::APInt constant;
  llvm::MapVector<llvm::Value *, llvm::APInt> variables;
};

class Array {
public:
  Array(llvm::AllocaInst &memory, const llvm::DataLayout &layout) : memory(memory), layout(layout) {}

  // Whether it can be promoted.
  bool analyse() {
    auto size = memory.isStaticAlloca() ? memory.getAllocationSize(layout) : std::nullopt;
    if (!size || size->isScalable() || size->getFixedValue() > most_bytes) {
      return false;
    }
    bytes = size->getFixedValue();
    const unsigned width = layout.getIndexTypeSizeInBits(memory.getType());
    if (!visit(memory, Place{llvm::APInt(width, 0), {}}) || !element || !is_indexed) {
      return false;
    }
    const uint64_t step = layout.getTypeStoreSize(element);
    const uint64_t count = bytes / step;
    if (bytes % step || count < 2 || count > most_elements) {
      return false;
    }
    for (auto &[access, place] : accesses) {
      auto fits = [&](const llvm::APInt &offset) { return offset.srem(static_cast<int64_t>(step)) == 0; };
      auto scales = llvm::make_second_range(place.variables);
      if (!fits(place.constant) || !llvm::all_of(scales, fits)) {
        return false;
      }
    }
    vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(count));
    return true;
  }

  // Promotes it; returns the variable of the vector.
  llvm::AllocaInst *rewrite() {
    llvm::IRBuilder<> at_entry(&memory);
    llvm::AllocaInst *variable = at_entry.CreateAlloca(vector);
    for (auto &[access, place] : accesses) {
      llvm::IRBuilder<> builder(access);
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(access)) {
        llvm::Value *all = builder.CreateLoad(vector, variable);
        llvm::Value *read = is_all(load->getType(), place) ? all : builder.CreateExtractElement(all, index(builder, place));
        load->replaceAllUsesWith(builder.CreateBitCast(read, load->getType()));
      } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(access)) {
        if (is_all(store->getValueOperand()->getType(), place)) {
          builder.CreateStore(builder.CreateBitCast(store->getValueOperand(), vector), variable);
          access->eraseFromParent();
          continue;
        }
        llvm::Value *all = builder.CreateLoad(vector, variable);
        llvm::Value *one = builder.CreateBitCast(store->getValueOperand(), element);
        builder.CreateStore(builder.CreateInsertElement(all, one, index(builder, place)), variable);
      } else {
        builder.CreateStore(filling(builder, *llvm::cast<llvm::MemIntrinsic>(access)), variable);
      }
      access->eraseFromParent();
    }
    for (llvm::Instruction *instruction : llvm::reverse(others)) {
      instruction->eraseFromParent();
    }
    memory.eraseFromParent();
    return variable;
  }

private:
  llvm::AllocaInst &memory;
  const llvm::DataLayout &layout;
  uint64_t bytes = 0;
  llvm::Type *element = nullptr;
  llvm::FixedVectorType *vector = nullptr;
  bool is_indexed = false;
  // Loads, stores, and fills of the whole array.
  llvm::SmallVector<std::pair<llvm::Instruction *, Place>, 16> accesses;
  // Addresses and lifetime markers.
  llvm::SmallVector<llvm::Instruction *, 16> others;

  bool visit(llvm::Value &pointer, const Place &place) {
    for (llvm::User *user : pointer.users()) {
      auto *instruction = llvm::cast<llvm::Instruction>(user);
      if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(instruction)) {
        Place next = place;
        if (!address->collectOffset(layout, next.constant.getBitWidth(), next.variables, next.constant)) {
          return false;
        }
        others.push_back(address);
        if (!visit(*address, next)) {
          return false;
        }
      } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
        if (!load->isSimple() || !holds(load->getType(), place)) {
          return false;
        }
        accesses.emplace_back(load, place);
      } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
        llvm::Value *value = store->getValueOperand();
        if (!store->isSimple() || value == &pointer || !holds(value->getType(), place)) {
          return false;
        }
        accesses.emplace_back(store, place);
      } else if (instruction->isLifetimeStartOrEnd()) {
        others.push_back(instruction);
      } else if (fills(instruction, pointer, place)) {
        accesses.emplace_back(instruction, place);
      } else {
        return false;
      }
    }
    return true;
  }

  // Whether an access of this type is one of the whole array. Fills and copies of a few bytes become these.
  bool is_all(llvm::Type *type, const Place &place) const {
    return (type->isIntOrIntVectorTy() || type->isFPOrFPVectorTy()) && layout.getTypeSizeInBits(type) == 8 * bytes &&
           place.constant.isZero() && place.variables.empty();
  }

  // Whether an access of this type is one of an element, or of all.
  bool holds(llvm::Type *type, const Place &place) {
    if (is_all(type, place)) {
      return true;
    }
    if (!type->isIntegerTy() && !type->isFloatingPointTy()) {
      return false;
    }
    if (!element) {
      element = type;
    }
    is_indexed |= !place.variables.empty();
    const auto bits = layout.getTypeSizeInBits(type);
    return bits == layout.getTypeSizeInBits(element) && bits == 8 * layout.getTypeStoreSize(type);
  }

  // Whether it writes the whole array.
  bool fills(llvm::Instruction *instruction, const llvm::Value &pointer, const Place &place) const {
    auto *fill = llvm::dyn_cast<llvm::MemIntrinsic>(instruction);
    if (!fill || fill->isVolatile() || fill->getRawDest() != &pointer || !place.constant.isZero() || !place.variables.empty()) {
      return false;
    }
    auto *length = llvm::dyn_cast<llvm::ConstantInt>(fill->getLength());
    if (!length || length->getZExtValue() != bytes) {
      return false;
    }
    if (auto *set = llvm::dyn_cast<llvm::MemSetInst>(fill)) {
      return llvm::isa<llvm::ConstantInt>(set->getValue());
    }
    auto *copy = llvm::dyn_cast<llvm::MemTransferInst>(fill);
    return copy && copy->getRawSource() != &pointer;
  }

  // The value that a fill writes.
  llvm::Value *filling(llvm::IRBuilder<> &builder, llvm::MemIntrinsic &fill) const {
    const auto bits = static_cast<unsigned>(layout.getTypeSizeInBits(element));
    if (auto *set = llvm::dyn_cast<llvm::MemSetInst>(&fill)) {
      const llvm::APInt &byte = llvm::cast<llvm::ConstantInt>(set->getValue())->getValue();
      llvm::Value *one = builder.getInt(llvm::APInt::getSplat(bits, byte));
      return builder.CreateVectorSplat(vector->getNumElements(), builder.CreateBitCast(one, element));
    }
    auto &copy = llvm::cast<llvm::MemTransferInst>(fill);
    llvm::Value *all = llvm::PoisonValue::get(vector);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      llvm::Value *from = builder.CreateConstGEP1_32(element, copy.getRawSource(), i);
      const llvm::Align align = llvm::commonAlignment(copy.getSourceAlign().valueOrOne(), i * (bits / 8));
      all = builder.CreateInsertElement(all, builder.CreateAlignedLoad(element, from, align), i);
    }
    return all;
  }

  // The index of the element at an offset.
  llvm::Value *index(llvm::IRBuilder<> &builder, const Place &place) const {
    const auto step = static_cast<int64_t>(layout.getTypeStoreSize(element).getFixedValue());
    llvm::Value *sum = builder.getInt32(static_cast<uint32_t>(place.constant.getSExtValue() / step));
    for (auto &[variable, scale] : place.variables) {
      llvm::Value *number = builder.CreateSExtOrTrunc(variable, builder.getInt32Ty());
      llvm::Value *times = builder.getInt32(static_cast<uint32_t>(scale.getSExtValue() / step));
      sum = builder.CreateAdd(sum, builder.CreateMul(number, times));
    }
    return sum;
  }
};

} // namespace

extern "C" {

// Promotes the small arrays of a module; returns whether there were any.
bool gencl_promote_arrays(LLVMModuleRef module) {
  bool changed = false;
  for (llvm::Function &function : *llvm::unwrap(module)) {
    if (function.isDeclaration()) {
      continue;
    }
    llvm::SmallVector<llvm::AllocaInst *, 8> all;
    for (llvm::Instruction &instruction : function.getEntryBlock()) {
      if (auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        all.push_back(alloca);
      }
    }
    llvm::SmallVector<llvm::AllocaInst *, 8> vectors;
    for (llvm::AllocaInst *alloca : all) {
      Array array(*alloca, function.getDataLayout());
      if (array.analyse()) {
        vectors.push_back(array.rewrite());
      }
    }
    if (!vectors.empty()) {
      llvm::DominatorTree tree(function);
      llvm::PromoteMemToReg(vectors, tree);
      changed = true;
    }
  }
  return changed;
}

} // extern "C"
