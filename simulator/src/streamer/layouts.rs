//! Fields of the commands and structures of Gen9.
//!
//! Names and bits are those of Mesa's `gen9.xml`, which follows the Skylake manual, Volume 2a "Command Reference:
//! Instructions" and Volume 2d "Command Reference: Structures"; a test compares them. The
//! fields that identify a command and its length stand in the command table instead.

use super::field::layouts;

layouts! {
    /// MI_NOOP
    mi_noop {
        IDENTIFICATION "Identification Number" 0..=21,
        WRITE_ENABLE "Identification Number Register Write Enable" 22..=22,
    }
    /// MI_ARB_ON_OFF
    mi_arb_on_off {
        ENABLE "Arbitration Enable" 0..=0,
    }
    /// MI_PREDICATE
    mi_predicate {
        COMPARE "Compare Operation" 0..=1,
        COMBINE "Combine Operation" 3..=4,
        LOAD "Load Operation" 6..=7,
    }
    /// MI_BATCH_BUFFER_START
    mi_batch_buffer_start {
        PPGTT "Address Space Indicator" 8..=8,
        RESOURCE_STREAMER "Resource Streamer Enable" 10..=10,
        PREDICATION "Predication Enable" 15..=15,
        ADD_OFFSET "Add Offset Enable" 16..=16,
        SECOND_LEVEL "Second Level Batch Buffer" 22..=22,
        ADDRESS "Batch Buffer Start Address" 34..=95,
    }
    /// MI_STORE_DATA_IMM
    mi_store_data_imm {
        STORE_QWORD "Store Qword" 21..=21,
        GLOBAL "Use Global GTT" 22..=22,
        CORE_MODE "Core Mode Enable" 32..=32,
        ADDRESS "Address" 34..=79,
        DATA "Immediate Data" 96..=159,
    }
    /// MI_LOAD_REGISTER_IMM: the first register; more pairs follow.
    mi_load_register_imm {
        BYTE_DISABLES "Byte Write Disables" 8..=11,
        REGISTER "Register Offset" 34..=54,
        DATA "Data DWord" 64..=95,
    }
    /// MI_LOAD_REGISTER_MEM
    mi_load_register_mem {
        ASYNC "Async Mode Enable" 21..=21,
        GLOBAL "Use Global GTT" 22..=22,
        REGISTER "Register Address" 34..=54,
        ADDRESS "Memory Address" 66..=127,
    }
    /// MI_LOAD_REGISTER_REG
    mi_load_register_reg {
        SOURCE "Source Register Address" 34..=54,
        DESTINATION "Destination Register Address" 66..=86,
    }
    /// MI_STORE_REGISTER_MEM
    mi_store_register_mem {
        PREDICATE "Predicate Enable" 21..=21,
        GLOBAL "Use Global GTT" 22..=22,
        REGISTER "Register Address" 34..=54,
        ADDRESS "Memory Address" 66..=127,
    }
    /// MI_COPY_MEM_MEM
    mi_copy_mem_mem {
        GLOBAL_DESTINATION "Use Global GTT Destination" 21..=21,
        GLOBAL_SOURCE "Use Global GTT Source" 22..=22,
        DESTINATION "Destination Memory Address" 34..=95,
        SOURCE "Source Memory Address" 98..=159,
    }
    /// MI_FLUSH_DW
    mi_flush_dw {
        VIDEO_INVALIDATE "Video Pipeline Cache Invalidate" 7..=7,
        NOTIFY "Notify Enable" 8..=8,
        FLUSH_LLC "Flush LLC" 9..=9,
        POST_SYNC "Post-Sync Operation" 14..=15,
        TLB_INVALIDATE "TLB Invalidate" 18..=18,
        STORE_DATA_INDEX "Store Data Index" 21..=21,
        GLOBAL "Destination Address Type" 34..=34,
        ADDRESS "Address" 35..=79,
        DATA "Immediate Data" 96..=159,
    }
    /// MI_SEMAPHORE_WAIT
    mi_semaphore_wait {
        COMPARE "Compare Operation" 12..=14,
        POLLING "Wait Mode" 15..=15,
        REGISTER_POLL "Register Poll Mode" 16..=16,
        GLOBAL "Memory Type" 22..=22,
        DATA "Semaphore Data Dword" 32..=63,
        ADDRESS "Semaphore Address" 66..=127,
    }
    /// MI_MATH: each further dword is an ALU instruction.
    mi_math {
        INSTRUCTION "Instruction" 32..=63,
    }
    /// MI_RS_CONTROL
    mi_rs_control {
        START "Resource Streamer Control" 0..=0,
    }
    /// PIPELINE_SELECT
    pipeline_select {
        SELECTION "Pipeline Selection" 0..=1,
        MEDIA_SAMPLER_CLOCK_GATE "Media Sampler DOP Clock Gate Enable" 4..=4,
        FORCE_MEDIA_AWAKE "Force Media Awake" 5..=5,
        MASK "Mask Bits" 8..=15,
    }
    /// STATE_BASE_ADDRESS
    state_base_address {
        GENERAL_MODIFY "General State Base Address Modify Enable" 32..=32,
        GENERAL_MOCS "General State MOCS" 36..=42,
        GENERAL "General State Base Address" 44..=95,
        STATELESS_MOCS "Stateless Data Port Access MOCS" 112..=118,
        SURFACE_MODIFY "Surface State Base Address Modify Enable" 128..=128,
        SURFACE_MOCS "Surface State MOCS" 132..=138,
        SURFACE "Surface State Base Address" 140..=191,
        DYNAMIC_MODIFY "Dynamic State Base Address Modify Enable" 192..=192,
        DYNAMIC_MOCS "Dynamic State MOCS" 196..=202,
        DYNAMIC "Dynamic State Base Address" 204..=255,
        INDIRECT_MODIFY "Indirect Object Base Address Modify Enable" 256..=256,
        INDIRECT_MOCS "Indirect Object MOCS" 260..=266,
        INDIRECT "Indirect Object Base Address" 268..=319,
        INSTRUCTION_MODIFY "Instruction Base Address Modify Enable" 320..=320,
        INSTRUCTION_MOCS "Instruction MOCS" 324..=330,
        INSTRUCTION "Instruction Base Address" 332..=383,
        GENERAL_SIZE_MODIFY "General State Buffer Size Modify Enable" 384..=384,
        GENERAL_SIZE "General State Buffer Size" 396..=415,
        DYNAMIC_SIZE_MODIFY "Dynamic State Buffer Size Modify Enable" 416..=416,
        DYNAMIC_SIZE "Dynamic State Buffer Size" 428..=447,
        INDIRECT_SIZE_MODIFY "Indirect Object Buffer Size Modify Enable" 448..=448,
        INDIRECT_SIZE "Indirect Object Buffer Size" 460..=479,
        INSTRUCTION_SIZE_MODIFY "Instruction Buffer size Modify Enable" 480..=480,
        INSTRUCTION_SIZE "Instruction Buffer Size" 492..=511,
        BINDLESS_MODIFY "Bindless Surface State Base Address Modify Enable" 512..=512,
        BINDLESS_MOCS "Bindless Surface State MOCS" 516..=522,
        BINDLESS "Bindless Surface State Base Address" 524..=575,
        BINDLESS_SIZE "Bindless Surface State Size" 588..=607,
    }
    /// STATE_SIP
    state_sip {
        POINTER "System Instruction Pointer" 36..=95,
    }
    /// 3DSTATE_CC_STATE_POINTERS
    cc_state_pointers {
        VALID "Color Calc State Pointer Valid" 32..=32,
        POINTER "Color Calc State Pointer" 38..=63,
    }
    /// MEDIA_VFE_STATE
    media_vfe_state {
        PER_THREAD_SCRATCH "Per Thread Scratch Space" 32..=35,
        STACK_SIZE "Stack Size" 36..=39,
        SCRATCH_BASE "Scratch Space Base Pointer" 42..=79,
        RESET_GATEWAY_TIMER "Reset Gateway Timer" 103..=103,
        URB_ENTRIES "Number of URB Entries" 104..=111,
        MAX_THREADS "Maximum Number of Threads" 112..=127,
        SLICE_DISABLE "Slice Disable" 128..=129,
        CURBE_SIZE "CURBE Allocation Size" 160..=175,
        URB_ENTRY_SIZE "URB Entry Allocation Size" 176..=191,
        SCOREBOARD_MASK "Scoreboard Mask" 192..=199,
        SCOREBOARD_TYPE "Scoreboard Type" 222..=222,
        SCOREBOARD_ENABLE "Scoreboard Enable" 223..=223,
    }
    /// MEDIA_CURBE_LOAD
    media_curbe_load {
        LENGTH "CURBE Total Data Length" 64..=80,
        ADDRESS "CURBE Data Start Address" 96..=127,
    }
    /// MEDIA_INTERFACE_DESCRIPTOR_LOAD
    media_interface_descriptor_load {
        LENGTH "Interface Descriptor Total Length" 64..=80,
        ADDRESS "Interface Descriptor Data Start Address" 96..=127,
    }
    /// MEDIA_STATE_FLUSH
    media_state_flush {
        DESCRIPTOR "Interface Descriptor Offset" 32..=37,
        WATERMARK "Watermark Required" 38..=38,
        FLUSH_TO_GO "Flush to GO" 39..=39,
    }
    /// GPGPU_WALKER
    gpgpu_walker {
        PREDICATE "Predicate Enable" 8..=8,
        INDIRECT "Indirect Parameter Enable" 10..=10,
        DESCRIPTOR "Interface Descriptor Offset" 32..=37,
        DATA_LENGTH "Indirect Data Length" 64..=80,
        DATA_ADDRESS "Indirect Data Start Address" 102..=127,
        WIDTH "Thread Width Counter Maximum" 128..=133,
        HEIGHT "Thread Height Counter Maximum" 136..=141,
        DEPTH "Thread Depth Counter Maximum" 144..=149,
        SIMD_SIZE "SIMD Size" 158..=159,
        FIRST_X "Thread Group ID Starting X" 160..=191,
        END_X "Thread Group ID X Dimension" 224..=255,
        FIRST_Y "Thread Group ID Starting Y" 256..=287,
        END_Y "Thread Group ID Y Dimension" 320..=351,
        FIRST_Z "Thread Group ID Starting/Resume Z" 352..=383,
        END_Z "Thread Group ID Z Dimension" 384..=415,
        RIGHT_MASK "Right Execution Mask" 416..=447,
        BOTTOM_MASK "Bottom Execution Mask" 448..=479,
    }
    /// PIPE_CONTROL
    pipe_control {
        DEPTH_FLUSH "Depth Cache Flush Enable" 32..=32,
        SCOREBOARD_STALL "Stall At Pixel Scoreboard" 33..=33,
        STATE_INVALIDATE "State Cache Invalidation Enable" 34..=34,
        CONSTANT_INVALIDATE "Constant Cache Invalidation Enable" 35..=35,
        VF_INVALIDATE "VF Cache Invalidation Enable" 36..=36,
        DC_FLUSH "DC Flush Enable" 37..=37,
        PIPE_CONTROL_FLUSH "Pipe Control Flush Enable" 39..=39,
        NOTIFY "Notify Enable" 40..=40,
        INDIRECT_DISABLE "Indirect State Pointers Disable" 41..=41,
        TEXTURE_INVALIDATE "Texture Cache Invalidation Enable" 42..=42,
        INSTRUCTION_INVALIDATE "Instruction Cache Invalidate Enable" 43..=43,
        TARGET_FLUSH "Render Target Cache Flush Enable" 44..=44,
        DEPTH_STALL "Depth Stall Enable" 45..=45,
        POST_SYNC "Post Sync Operation" 46..=47,
        MEDIA_CLEAR "Generic Media State Clear" 48..=48,
        TLB_INVALIDATE "TLB Invalidate" 50..=50,
        SNAPSHOT_RESET "Global Snapshot Count Reset" 51..=51,
        CS_STALL "Command Streamer Stall Enable" 52..=52,
        STORE_DATA_INDEX "Store Data Index" 53..=53,
        LRI_POST_SYNC "LRI Post Sync Operation" 55..=55,
        GLOBAL "Destination Address Type" 56..=56,
        FLUSH_LLC "Flush LLC" 58..=58,
        ADDRESS "Address" 66..=111,
        DATA "Immediate Data" 128..=191,
    }
    /// INTERFACE_DESCRIPTOR_DATA
    interface_descriptor_data {
        KERNEL "Kernel Start Pointer" 6..=47,
        SOFTWARE_EXCEPTION "Software Exception Enable" 71..=71,
        MASK_STACK_EXCEPTION "Mask Stack Exception Enable" 75..=75,
        ILLEGAL_OPCODE_EXCEPTION "Illegal Opcode Exception Enable" 77..=77,
        FLOAT_MODE "Floating Point Mode" 80..=80,
        PRIORITY "Thread Priority" 81..=81,
        SINGLE_PROGRAM_FLOW "Single Program Flow" 82..=82,
        DENORM_MODE "Denorm Mode" 83..=83,
        SAMPLER_COUNT "Sampler Count" 98..=100,
        SAMPLERS "Sampler State Pointer" 101..=127,
        BINDING_TABLE_COUNT "Binding Table Entry Count" 128..=132,
        BINDING_TABLE "Binding Table Pointer" 133..=143,
        CONSTANT_OFFSET "Constant URB Entry Read Offset" 160..=175,
        CONSTANT_LENGTH "Constant URB Entry Read Length" 176..=191,
        THREADS "Number of Threads in GPGPU Thread Group" 192..=201,
        GLOBAL_BARRIER "Global Barrier Enable" 207..=207,
        SLM_SIZE "Shared Local Memory Size" 208..=212,
        BARRIER "Barrier Enable" 213..=213,
        ROUNDING "Rounding Mode" 214..=215,
        CROSS_THREAD_LENGTH "Cross-Thread Constant Data Read Length" 224..=231,
    }
}
