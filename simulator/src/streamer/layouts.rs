//! Fields of commands and structures, each with its position in every generation.
//!
//! Names and bits are those of Mesa's `gen7.xml` to `gen9.xml`, which follow the manuals' Volume 2a "Command
//! Reference: Instructions" and Volume 2d "Command Reference: Structures" (Gen7: Volume 2 Parts 1 and 2); a
//! test compares them. The fields for opcode and length of a command are in the command table instead.

use super::field::layouts;

layouts! {
    /// MI_NOOP
    mi_noop {
        IDENTIFICATION "Identification Number" all(0, 21),
        WRITE_ENABLE "Identification Number Register Write Enable" all(22, 22),
    }
    /// MI_ARB_ON_OFF
    mi_arb_on_off {
        ENABLE "Arbitration Enable" all(0, 0),
    }
    /// MI_PREDICATE
    mi_predicate {
        COMPARE "Compare Operation" all(0, 1),
        COMBINE "Combine Operation" all(3, 4),
        LOAD "Load Operation" all(6, 7),
    }
    /// MI_BATCH_BUFFER_START
    mi_batch_buffer_start {
        PPGTT "Address Space Indicator" all(8, 8),
        RESOURCE_STREAMER "Resource Streamer Enable" from75(10, 10),
        PREDICATION "Predication Enable" from75(15, 15),
        ADD_OFFSET "Add Offset Enable" from75(16, 16),
        SECOND_LEVEL "Second Level Batch Buffer" from75(22, 22),
        ADDRESS "Batch Buffer Start Address" from7(34, 63).from8(34, 79).from9(34, 95),
    }
    /// MI_STORE_DATA_IMM
    mi_store_data_imm {
        STORE_QWORD "Store Qword" from8(21, 21),
        GLOBAL "Use Global GTT" all(22, 22),
        CORE_MODE "Core Mode Enable" from7(64, 64).from8(32, 32),
        ADDRESS "Address" from7(66, 95).from8(34, 79),
        DATA "Immediate Data" all(96, 159),
    }
    /// MI_LOAD_REGISTER_IMM: the first register; more pairs follow.
    mi_load_register_imm {
        BYTE_DISABLES "Byte Write Disables" all(8, 11),
        REGISTER "Register Offset" all(34, 54),
        DATA "Data DWord" all(64, 95),
    }
    /// MI_LOAD_REGISTER_MEM
    mi_load_register_mem {
        ASYNC "Async Mode Enable" all(21, 21),
        GLOBAL "Use Global GTT" all(22, 22),
        REGISTER "Register Address" all(34, 54),
        ADDRESS "Memory Address" from7(66, 95).from8(66, 127),
    }
    /// MI_LOAD_REGISTER_REG
    mi_load_register_reg {
        SOURCE "Source Register Address" from75(34, 54),
        DESTINATION "Destination Register Address" from75(66, 86),
    }
    /// MI_STORE_REGISTER_MEM
    mi_store_register_mem {
        PREDICATE "Predicate Enable" from75(21, 21),
        GLOBAL "Use Global GTT" all(22, 22),
        REGISTER "Register Address" all(34, 54),
        ADDRESS "Memory Address" from7(66, 95).from8(66, 127),
    }
    /// MI_COPY_MEM_MEM
    mi_copy_mem_mem {
        GLOBAL_DESTINATION "Use Global GTT Destination" from8(21, 21),
        GLOBAL_SOURCE "Use Global GTT Source" from8(22, 22),
        DESTINATION "Destination Memory Address" from8(34, 95),
        SOURCE "Source Memory Address" from8(98, 159),
    }
    /// MI_FLUSH_DW
    mi_flush_dw {
        VIDEO_INVALIDATE "Video Pipeline Cache Invalidate" all(7, 7),
        NOTIFY "Notify Enable" all(8, 8),
        FLUSH_LLC "Flush LLC" from9(9, 9),
        POST_SYNC "Post-Sync Operation" all(14, 15),
        TLB_INVALIDATE "TLB Invalidate" all(18, 18),
        STORE_DATA_INDEX "Store Data Index" all(21, 21),
        GLOBAL "Destination Address Type" all(34, 34),
        ADDRESS "Address" from7(35, 63).from8(35, 79),
        DATA "Immediate Data" from7(64, 95).from8(96, 159),
    }
    /// MI_SEMAPHORE_WAIT
    mi_semaphore_wait {
        COMPARE "Compare Operation" from8(12, 14),
        POLLING "Wait Mode" from8(15, 15),
        REGISTER_POLL "Register Poll Mode" from9(16, 16),
        GLOBAL "Memory Type" from8(22, 22),
        DATA "Semaphore Data Dword" from8(32, 63),
        ADDRESS "Semaphore Address" from8(66, 111).from9(66, 127),
    }
    /// MI_MATH: each further dword is an ALU instruction.
    mi_math {
        INSTRUCTION "Instruction" from75(32, 63),
    }
    /// MI_RS_CONTROL
    mi_rs_control {
        START "Resource Streamer Control" from75(0, 0),
    }
    /// PIPELINE_SELECT
    pipeline_select {
        SELECTION "Pipeline Selection" all(0, 1),
        MEDIA_SAMPLER_CLOCK_GATE "Media Sampler DOP Clock Gate Enable" from9(4, 4),
        FORCE_MEDIA_AWAKE "Force Media Awake" from9(5, 5),
        MASK "Mask Bits" from9(8, 15),
    }
    /// STATE_BASE_ADDRESS
    state_base_address {
        GENERAL_MODIFY "General State Base Address Modify Enable" all(32, 32),
        GENERAL_MOCS "General State MOCS" from7(40, 43).from8(36, 42),
        GENERAL "General State Base Address" from7(44, 63).from8(44, 95),
        WRITE_THROUGH "Stateless Data Port Access Force Write Thru" from7(35, 35).until75(),
        STATELESS_MOCS "Stateless Data Port Access MOCS" from7(36, 39).from8(112, 118),
        SURFACE_MODIFY "Surface State Base Address Modify Enable" from7(64, 64).from8(128, 128),
        SURFACE_MOCS "Surface State MOCS" from7(72, 75).from8(132, 138),
        SURFACE "Surface State Base Address" from7(76, 95).from8(140, 191),
        DYNAMIC_MODIFY "Dynamic State Base Address Modify Enable" from7(96, 96).from8(192, 192),
        DYNAMIC_MOCS "Dynamic State MOCS" from7(104, 107).from8(196, 202),
        DYNAMIC "Dynamic State Base Address" from7(108, 127).from8(204, 255),
        INDIRECT_MODIFY "Indirect Object Base Address Modify Enable" from7(128, 128).from8(256, 256),
        INDIRECT_MOCS "Indirect Object MOCS" from7(136, 139).from8(260, 266),
        INDIRECT "Indirect Object Base Address" from7(140, 159).from8(268, 319),
        INSTRUCTION_MODIFY "Instruction Base Address Modify Enable" from7(160, 160).from8(320, 320),
        INSTRUCTION_MOCS "Instruction MOCS" from7(168, 171).from8(324, 330),
        INSTRUCTION "Instruction Base Address" from7(172, 191).from8(332, 383),
        GENERAL_BOUND_MODIFY "General State Access Upper Bound Modify Enable" from7(192, 192).until8(),
        GENERAL_BOUND "General State Access Upper Bound" from7(204, 223).until8(),
        DYNAMIC_BOUND_MODIFY "Dynamic State Access Upper Bound Modify Enable" from7(224, 224).until8(),
        DYNAMIC_BOUND "Dynamic State Access Upper Bound" from7(236, 255).until8(),
        INDIRECT_BOUND_MODIFY "Indirect Object Access Upper Bound Modify Enable" from7(256, 256).until8(),
        INDIRECT_BOUND "Indirect Object Access Upper Bound" from7(268, 287).until8(),
        INSTRUCTION_BOUND_MODIFY "Instruction Access Upper Bound Modify Enable" from7(288, 288).until8(),
        INSTRUCTION_BOUND "Instruction Access Upper Bound" from7(300, 319).until8(),
        GENERAL_SIZE_MODIFY "General State Buffer Size Modify Enable" from8(384, 384),
        GENERAL_SIZE "General State Buffer Size" from8(396, 415),
        DYNAMIC_SIZE_MODIFY "Dynamic State Buffer Size Modify Enable" from8(416, 416),
        DYNAMIC_SIZE "Dynamic State Buffer Size" from8(428, 447),
        INDIRECT_SIZE_MODIFY "Indirect Object Buffer Size Modify Enable" from8(448, 448),
        INDIRECT_SIZE "Indirect Object Buffer Size" from8(460, 479),
        INSTRUCTION_SIZE_MODIFY "Instruction Buffer size Modify Enable" from8(480, 480),
        INSTRUCTION_SIZE "Instruction Buffer Size" from8(492, 511),
        BINDLESS_MODIFY "Bindless Surface State Base Address Modify Enable" from9(512, 512),
        BINDLESS_MOCS "Bindless Surface State MOCS" from9(516, 522),
        BINDLESS "Bindless Surface State Base Address" from9(524, 575),
        BINDLESS_SIZE "Bindless Surface State Size" from9(588, 607),
    }
    /// STATE_SIP
    state_sip {
        POINTER "System Instruction Pointer" from7(36, 63).from8(36, 95),
    }
    /// 3DSTATE_CC_STATE_POINTERS
    cc_state_pointers {
        VALID "Color Calc State Pointer Valid" from8(32, 32),
        POINTER "Color Calc State Pointer" all(38, 63),
    }
    /// MEDIA_VFE_STATE
    media_vfe_state {
        PER_THREAD_SCRATCH "Per Thread Scratch Space" all(32, 35),
        STACK_SIZE "Stack Size" from75(36, 39),
        SCRATCH_BASE "Scratch Space Base Pointer" from7(42, 63).from8(42, 79),
        GPGPU_MODE "GPGPU Mode" from7(66, 66).until8(),
        GATEWAY_ACCESS "Gateway MMIO Access Control" from7(67, 68).until75(),
        BYPASS_GATEWAY "Bypass Gateway Control" from7(70, 70).from8(102, 102).until9(),
        RESET_GATEWAY_TIMER "Reset Gateway Timer" from7(71, 71).from8(103, 103),
        URB_ENTRIES "Number of URB Entries" from7(72, 79).from8(104, 111),
        MAX_THREADS "Maximum Number of Threads" from7(80, 95).from8(112, 127),
        HALF_SLICE_DISABLE "Half-Slice Disable" from75(96, 97).until8(),
        SLICE_DISABLE "Slice Disable" from8(128, 129),
        CURBE_SIZE "CURBE Allocation Size" from7(128, 143).from8(160, 175),
        URB_ENTRY_SIZE "URB Entry Allocation Size" from7(144, 159).from8(176, 191),
        SCOREBOARD_MASK "Scoreboard Mask" from7(160, 167).from8(192, 199),
        SCOREBOARD_TYPE "Scoreboard Type" from7(190, 190).from8(222, 222),
        SCOREBOARD_ENABLE "Scoreboard Enable" from7(191, 191).from8(223, 223),
    }
    /// MEDIA_CURBE_LOAD
    media_curbe_load {
        LENGTH "CURBE Total Data Length" all(64, 80),
        ADDRESS "CURBE Data Start Address" all(96, 127),
    }
    /// MEDIA_INTERFACE_DESCRIPTOR_LOAD
    media_interface_descriptor_load {
        LENGTH "Interface Descriptor Total Length" all(64, 80),
        ADDRESS "Interface Descriptor Data Start Address" all(96, 127),
    }
    /// MEDIA_STATE_FLUSH
    media_state_flush {
        DESCRIPTOR "Interface Descriptor Offset" all(32, 37),
        WATERMARK "Watermark Required" all(38, 38),
        FLUSH_TO_GO "Flush to GO" from75(39, 39),
    }
    /// GPGPU_WALKER
    gpgpu_walker {
        PREDICATE "Predicate Enable" all(8, 8),
        INDIRECT "Indirect Parameter Enable" all(10, 10),
        DESCRIPTOR "Interface Descriptor Offset" from7(32, 36).from75(32, 37),
        DATA_LENGTH "Indirect Data Length" from8(64, 80),
        DATA_ADDRESS "Indirect Data Start Address" from8(102, 127),
        WIDTH "Thread Width Counter Maximum" from7(64, 69).from8(128, 133),
        HEIGHT "Thread Height Counter Maximum" from7(72, 77).from8(136, 141),
        DEPTH "Thread Depth Counter Maximum" from7(80, 85).from8(144, 149),
        SIMD_SIZE "SIMD Size" from7(94, 95).from8(158, 159),
        FIRST_X "Thread Group ID Starting X" from7(96, 127).from8(160, 191),
        END_X "Thread Group ID X Dimension" from7(128, 159).from8(224, 255),
        FIRST_Y "Thread Group ID Starting Y" from7(160, 191).from8(256, 287),
        END_Y "Thread Group ID Y Dimension" from7(192, 223).from8(320, 351),
        // It has another name from Gen8 on.
        FIRST_Z_GEN7 "Thread Group ID Starting Z" from7(224, 255).until8(),
        FIRST_Z "Thread Group ID Starting/Resume Z" from8(352, 383),
        END_Z "Thread Group ID Z Dimension" from7(256, 287).from8(384, 415),
        RIGHT_MASK "Right Execution Mask" from7(288, 319).from8(416, 447),
        BOTTOM_MASK "Bottom Execution Mask" from7(320, 351).from8(448, 479),
    }
    /// PIPE_CONTROL
    pipe_control {
        DEPTH_FLUSH "Depth Cache Flush Enable" all(32, 32),
        SCOREBOARD_STALL "Stall At Pixel Scoreboard" all(33, 33),
        STATE_INVALIDATE "State Cache Invalidation Enable" all(34, 34),
        CONSTANT_INVALIDATE "Constant Cache Invalidation Enable" all(35, 35),
        VF_INVALIDATE "VF Cache Invalidation Enable" all(36, 36),
        DC_FLUSH "DC Flush Enable" all(37, 37),
        PIPE_CONTROL_FLUSH "Pipe Control Flush Enable" all(39, 39),
        NOTIFY "Notify Enable" all(40, 40),
        INDIRECT_DISABLE "Indirect State Pointers Disable" all(41, 41),
        TEXTURE_INVALIDATE "Texture Cache Invalidation Enable" all(42, 42),
        INSTRUCTION_INVALIDATE "Instruction Cache Invalidate Enable" all(43, 43),
        TARGET_FLUSH "Render Target Cache Flush Enable" all(44, 44),
        DEPTH_STALL "Depth Stall Enable" all(45, 45),
        POST_SYNC "Post Sync Operation" all(46, 47),
        MEDIA_CLEAR "Generic Media State Clear" all(48, 48),
        TLB_INVALIDATE "TLB Invalidate" all(50, 50),
        SNAPSHOT_RESET "Global Snapshot Count Reset" all(51, 51),
        CS_STALL "Command Streamer Stall Enable" all(52, 52),
        STORE_DATA_INDEX "Store Data Index" all(53, 53),
        LRI_POST_SYNC "LRI Post Sync Operation" all(55, 55),
        GLOBAL "Destination Address Type" all(56, 56),
        FLUSH_LLC "Flush LLC" from9(58, 58),
        // i915 (`PIPE_CONTROL_FLUSH_L3`, where contexts are switched) and Intel's driver on Broadwell set it.
        FLUSH_L3 "Flush L3" from8(59, 59),
        ADDRESS "Address" from7(66, 95).from8(66, 111),
        DATA "Immediate Data" from7(96, 159).from8(128, 191),
    }
    /// INTERFACE_DESCRIPTOR_DATA
    interface_descriptor_data {
        KERNEL "Kernel Start Pointer" from7(6, 31).from8(6, 47),
        SOFTWARE_EXCEPTION "Software Exception Enable" from7(39, 39).from8(71, 71),
        MASK_STACK_EXCEPTION "Mask Stack Exception Enable" from7(43, 43).from8(75, 75),
        ILLEGAL_OPCODE_EXCEPTION "Illegal Opcode Exception Enable" from7(45, 45).from8(77, 77),
        FLOAT_MODE "Floating Point Mode" from7(48, 48).from8(80, 80),
        PRIORITY "Thread Priority" from7(49, 49).from8(81, 81),
        SINGLE_PROGRAM_FLOW "Single Program Flow" from7(50, 50).from8(82, 82),
        DENORM_MODE "Denorm Mode" from8(83, 83),
        SAMPLER_COUNT "Sampler Count" from7(66, 68).from8(98, 100),
        SAMPLERS "Sampler State Pointer" from7(69, 95).from8(101, 127),
        BINDING_TABLE_COUNT "Binding Table Entry Count" from7(96, 100).from8(128, 132),
        BINDING_TABLE "Binding Table Pointer" from7(101, 111).from8(133, 143),
        CONSTANT_OFFSET "Constant URB Entry Read Offset" from7(128, 143).until75().from8(160, 175),
        CONSTANT_LENGTH "Constant URB Entry Read Length" from7(144, 159).from8(176, 191),
        THREADS "Number of Threads in GPGPU Thread Group" from7(160, 167).from8(192, 201),
        GLOBAL_BARRIER "Global Barrier Enable" from9(207, 207),
        SLM_SIZE "Shared Local Memory Size" from7(176, 180).from8(208, 212),
        BARRIER "Barrier Enable" from7(181, 181).from8(213, 213),
        ROUNDING "Rounding Mode" from7(182, 183).from8(214, 215),
        CROSS_THREAD_LENGTH "Cross-Thread Constant Data Read Length" from75(192, 199).from8(224, 231),
    }
}
