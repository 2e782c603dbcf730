// Variables of the source, their types and scopes: nodes of LLVM's debug information, which the C interface cannot read.

#include <llvm-c/Core.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

namespace {

// Whether the source names a private variable.
bool is_named(llvm::AllocaInst *alloca) {
  return !llvm::findDbgDeclares(alloca).empty() || !llvm::findDVRDeclares(alloca).empty();
}

// Whether a function calls itself.
bool is_recursive(llvm::Function &function) {
  return llvm::any_of(function.users(), [&](llvm::User *user) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(user);
    return call && call->getFunction() == &function && call->getCalledFunction() == &function;
  });
}

// Whether a declaration gives the variable's own address, and not a pointer to it or a part of it.
bool is_whole(const llvm::DIExpression *expression) {
  return !expression->startsWithDeref() && !expression->getFragmentInfo();
}

} // namespace

extern "C" {

// A node: fields that its kind does not have are 0 or null.
struct GenclNode {
  const char *name;
  uint64_t length; // of the name, in bytes
  uint64_t bits;
  uint64_t offset;   // of a member in bits
  uint64_t count;    // of a subrange
  int64_t value;     // of an enumerator
  LLVMMetadataRef base; // the type of a variable or member, the pointee, the element
  LLVMMetadataRef scope;
  LLVMMetadataRef file;
  uint32_t tag; // DW_TAG_*
  uint32_t line;
  uint32_t encoding;      // DW_ATE_*
  uint32_t address_space; // of a pointer and one more; 0 if it is not known
  uint32_t elements;      // members, subranges or enumerators
  uint32_t argument;      // number of a parameter, from 1
  uint32_t flags;         // 1: a vector; 2: a bit field
};

// Describes a node.
void gencl_describe(LLVMMetadataRef raw, GenclNode *out) {
  auto *node = llvm::cast<llvm::DINode>(llvm::unwrap(raw));
  *out = GenclNode{};
  out->tag = node->getTag();
  auto name = [&](llvm::StringRef text) {
    out->name = text.data();
    out->length = text.size();
  };
  if (auto *scope = llvm::dyn_cast<llvm::DIScope>(node)) {
    out->file = llvm::wrap(scope->getFile());
    out->scope = llvm::wrap(scope->getScope());
  }
  if (auto *type = llvm::dyn_cast<llvm::DIType>(node)) {
    name(type->getName());
    out->bits = type->getSizeInBits();
    out->offset = type->getOffsetInBits();
    out->line = type->getLine();
    out->flags = (type->isVector() ? 1 : 0) | (type->isBitField() ? 2 : 0);
  }
  if (auto *type = llvm::dyn_cast<llvm::DIBasicType>(node)) {
    out->encoding = type->getEncoding();
  } else if (auto *type = llvm::dyn_cast<llvm::DIDerivedType>(node)) {
    out->base = llvm::wrap(type->getBaseType());
    out->address_space = type->getDWARFAddressSpace() ? *type->getDWARFAddressSpace() + 1 : 0;
  } else if (auto *type = llvm::dyn_cast<llvm::DICompositeType>(node)) {
    out->base = llvm::wrap(type->getBaseType());
    out->elements = type->getElements().size();
  } else if (auto *range = llvm::dyn_cast<llvm::DISubrange>(node)) {
    auto *count = llvm::dyn_cast_if_present<llvm::ConstantInt *>(range->getCount());
    out->count = count && !count->isMinusOne() ? count->getZExtValue() : 0;
  } else if (auto *enumerator = llvm::dyn_cast<llvm::DIEnumerator>(node)) {
    name(enumerator->getName());
    out->value = enumerator->getValue().getSExtValue();
  } else if (auto *variable = llvm::dyn_cast<llvm::DIVariable>(node)) {
    name(variable->getName());
    out->line = variable->getLine();
    out->base = llvm::wrap(variable->getType());
    out->scope = llvm::wrap(variable->getScope());
    out->file = llvm::wrap(variable->getFile());
    if (auto *local = llvm::dyn_cast<llvm::DILocalVariable>(variable)) {
      out->argument = local->getArg();
    }
  } else if (auto *block = llvm::dyn_cast<llvm::DILexicalBlock>(node)) {
    out->line = block->getLine();
  }
}

// A member, subrange or enumerator of a composite type.
LLVMMetadataRef gencl_element(LLVMMetadataRef type, unsigned index) {
  return llvm::wrap(llvm::cast<llvm::DICompositeType>(llvm::unwrap(type))->getElements()[index]);
}

// Tells the variables that are at the address of an alloca: in each inlined call there is another one.
void gencl_declared(LLVMValueRef alloca, void *to, void (*tell)(void *to, LLVMMetadataRef variable, LLVMMetadataRef location)) {
  llvm::Value *address = llvm::unwrap(alloca);
  for (llvm::DbgDeclareInst *declare : llvm::findDbgDeclares(address)) {
    if (is_whole(declare->getExpression())) {
      tell(to, llvm::wrap(declare->getVariable()), llvm::wrap(declare->getDebugLoc().get()));
    }
  }
  for (llvm::DbgVariableRecord *declare : llvm::findDVRDeclares(address)) {
    if (is_whole(declare->getExpression())) {
      tell(to, llvm::wrap(declare->getVariable()), llvm::wrap(declare->getDebugLoc().get()));
    }
  }
}

// The variable of the source that a global variable is; null if there is none.
LLVMMetadataRef gencl_declared_global(LLVMValueRef raw) {
  llvm::SmallVector<llvm::DIGlobalVariableExpression *, 1> found;
  if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(llvm::unwrap(raw))) {
    variable->getDebugInfo(found);
  }
  return found.empty() ? nullptr : llvm::wrap(found.front()->getVariable());
}

// Promotes private variables that the source does not name, and those whose types memory does not have, as images.
void gencl_promote_unnamed(LLVMModuleRef module) {
  for (llvm::Function &function : *llvm::unwrap(module)) {
    llvm::SmallVector<llvm::AllocaInst *> promoted;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (alloca && llvm::isAllocaPromotable(alloca) && (alloca->getAllocatedType()->isTargetExtTy() || !is_named(alloca))) {
        promoted.push_back(alloca);
      }
    }
    if (!promoted.empty()) {
      llvm::DominatorTree dominators(function);
      llvm::PromoteMemToReg(promoted, dominators);
    }
  }
}

// Has returns of functions that call themselves follow these calls, so that calls in tail position become loops: without
// ends of lifetimes, and without blocks that only choose a value, as those of `?:` do.
void gencl_expose_tail_calls(LLVMModuleRef module) {
  for (llvm::Function &function : *llvm::unwrap(module)) {
    if (!is_recursive(function)) {
      continue;
    }
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::lifetime_end) {
        intrinsic->eraseFromParent();
      }
    }
    for (llvm::BasicBlock &block : llvm::make_early_inc_range(llvm::drop_begin(function))) {
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
      if (branch && branch->isUnconditional() && block.getFirstNonPHIOrDbg() == branch) {
        llvm::TryToSimplifyUncondBranchFromEmptyBlock(&block);
      }
    }
  }
}

} // extern "C"
