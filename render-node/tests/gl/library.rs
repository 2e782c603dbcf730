//! The functions of EGL and OpenGL that the tests need, loaded at run time from the installed libraries, so
//! that the project does not depend on them.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// `EGL_PLATFORM_SURFACELESS_MESA`: no window system, no screen.
const SURFACELESS: u32 = 0x31dd;
/// `EGL_OPENGL_ES_API`, `EGL_OPENGL_API`
const APIS: [u32; 2] = [0x30a0, 0x30a2];
const EGL_CONTEXT_MAJOR_VERSION: i32 = 0x3098;
const EGL_CONTEXT_MINOR_VERSION: i32 = 0x30fb;
const EGL_NONE: i32 = 0x3038;

const COMPUTE_SHADER: u32 = 0x91b9;
const COMPILE_STATUS: u32 = 0x8b81;
const LINK_STATUS: u32 = 0x8b82;
const STORAGE_BUFFER: u32 = 0x90d2;
const INDIRECT_BUFFER: u32 = 0x90ee;
const DYNAMIC_COPY: u32 = 0x88ea;
const MAP_READ: u32 = 1;
const ALL_BARRIERS: u32 = u32::MAX;
const TEXTURE_2D: u32 = 0x0de1;
const MIN_FILTER: u32 = 0x2801;
const MAG_FILTER: u32 = 0x2800;
const NEAREST: i32 = 0x2600;
const LINEAR: i32 = 0x2601;
/// `GL_TEXTURE_WRAP_S`, `GL_TEXTURE_WRAP_T`, `GL_TEXTURE_WRAP_R`
const WRAPS: [u32; 3] = [0x2802, 0x2803, 0x8072];
const CLAMP_TO_BORDER: i32 = 0x812d;
const BORDER_COLOR: u32 = 0x1004;
const READ_WRITE: u32 = 0x88ba;
const RENDERER: u32 = 0x1f01;
const VERSION: u32 = 0x1f02;

/// API of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenGL ES 3.1.
    Es31,
    /// OpenGL 4.2 with the extensions for compute shaders and their buffers.
    Core42,
}

impl Dialect {
    /// The first lines of a shader.
    pub fn head(self) -> &'static str {
        match self {
            Dialect::Es31 => "#version 310 es\nprecision highp float;\nprecision highp int;\n",
            Dialect::Core42 => concat!(
                "#version 420\n",
                "#extension GL_ARB_compute_shader : require\n",
                "#extension GL_ARB_shader_storage_buffer_object : require\n",
                "#extension GL_ARB_gpu_shader5 : require\n",
                "#extension GL_ARB_shading_language_packing : require\n",
            ),
        }
    }
}

fn open(library: &CStr) -> Option<*mut c_void> {
    // SAFETY: loads a library of the system, whose initialisers are its own business.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    (!handle.is_null()).then_some(handle)
}

/// Requirements of the tests that are missing; `driver` is the name of a Mesa driver.
pub fn missing(driver: &str) -> Option<String> {
    if open(c"libEGL.so.1").is_none() {
        return Some("libEGL.so.1 (libegl1) is not installed".into());
    }
    let name = format!("dri/{driver}_dri.so");
    let mut folders: Vec<PathBuf> = vec!["/usr/lib64".into(), "/usr/lib".into()];
    folders
        .extend(Path::new("/usr/lib").read_dir().into_iter().flatten().flatten().map(|entry| entry.path()));
    let found = folders.iter().any(|folder| folder.join(&name).exists());
    (!found).then(|| format!("{name} (libgl1-mesa-dri) is not installed"))
}

/// Declares the functions that are used: a structure of pointers, loaded by name.
macro_rules! functions {
    ($structure:ident: $($field:ident = $name:literal ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        struct $structure {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $structure {
            fn load(find: impl Fn(&CStr) -> *mut c_void) -> $structure {
                $structure {
                    $($field: {
                        let found = find($name);
                        assert!(!found.is_null(), "no function {:?}", $name);
                        // SAFETY: the function of this name has these parameters (the Khronos headers).
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found) }
                    },)*
                }
            }
        }
    };
}

type Handle = *mut c_void;

functions! { Egl:
    get_proc_address = c"eglGetProcAddress" (*const c_char) -> Handle;
    get_platform_display = c"eglGetPlatformDisplay" (u32, Handle, *const isize) -> Handle;
    initialize = c"eglInitialize" (Handle, *mut i32, *mut i32) -> u32;
    bind_api = c"eglBindAPI" (u32) -> u32;
    create_context = c"eglCreateContext" (Handle, Handle, Handle, *const i32) -> Handle;
    make_current = c"eglMakeCurrent" (Handle, Handle, Handle, Handle) -> u32;
}

functions! { Gl:
    get_string = c"glGetString" (u32) -> *const c_char;
    get_error = c"glGetError" () -> u32;
    create_shader = c"glCreateShader" (u32) -> u32;
    shader_source = c"glShaderSource" (u32, i32, *const *const c_char, *const i32);
    compile_shader = c"glCompileShader" (u32);
    get_shader = c"glGetShaderiv" (u32, u32, *mut i32);
    shader_log = c"glGetShaderInfoLog" (u32, i32, *mut i32, *mut c_char);
    create_program = c"glCreateProgram" () -> u32;
    attach_shader = c"glAttachShader" (u32, u32);
    link_program = c"glLinkProgram" (u32);
    get_program = c"glGetProgramiv" (u32, u32, *mut i32);
    program_log = c"glGetProgramInfoLog" (u32, i32, *mut i32, *mut c_char);
    use_program = c"glUseProgram" (u32);
    uniform_location = c"glGetUniformLocation" (u32, *const c_char) -> i32;
    uniform = c"glUniform1ui" (i32, u32);
    gen_buffers = c"glGenBuffers" (i32, *mut u32);
    bind_buffer = c"glBindBuffer" (u32, u32);
    bind_buffer_base = c"glBindBufferBase" (u32, u32, u32);
    buffer_data = c"glBufferData" (u32, isize, *const c_void, u32);
    map_buffer = c"glMapBufferRange" (u32, isize, isize, u32) -> *const c_void;
    unmap_buffer = c"glUnmapBuffer" (u32) -> u8;
    memory_barrier = c"glMemoryBarrier" (u32);
    gen_textures = c"glGenTextures" (i32, *mut u32);
    bind_texture = c"glBindTexture" (u32, u32);
    storage_2d = c"glTexStorage2D" (u32, i32, u32, i32, i32);
    storage_3d = c"glTexStorage3D" (u32, i32, u32, i32, i32, i32);
    texture_parameter = c"glTexParameteri" (u32, u32, i32);
    texture_floats = c"glTexParameterfv" (u32, u32, *const f32);
    texture_integers = c"glTexParameterIivEXT" (u32, u32, *const i32);
    bind_image = c"glBindImageTexture" (u32, u32, i32, u8, i32, u32, u32);
    dispatch = c"glDispatchCompute" (u32, u32, u32);
    dispatch_indirect = c"glDispatchComputeIndirect" (isize);
}

/// A current context. It stays until the process ends.
pub struct Context {
    gl: Gl,
    /// Its API.
    pub dialect: Dialect,
}

impl Context {
    /// The first kind of context that the driver has.
    pub fn new() -> Context {
        let library = open(c"libEGL.so.1").expect("libEGL.so.1");
        // SAFETY: a library that is open, and C strings.
        let egl = Egl::load(|name| unsafe { libc::dlsym(library, name.as_ptr()) });
        // SAFETY: calls of EGL with valid pointers or none where none is needed.
        unsafe {
            let display = (egl.get_platform_display)(SURFACELESS, ptr::null_mut(), ptr::null());
            let (mut major, mut minor) = (0, 0);
            assert_ne!((egl.initialize)(display, &mut major, &mut minor), 0, "eglInitialize");
            let versions = [(Dialect::Es31, 3, 1), (Dialect::Core42, 4, 2)];
            for ((dialect, major, minor), api) in versions.into_iter().zip(APIS) {
                let attributes =
                    [EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor, EGL_NONE];
                (egl.bind_api)(api);
                let (no_config, no_context) = (ptr::null_mut(), ptr::null_mut());
                let context = (egl.create_context)(display, no_config, no_context, attributes.as_ptr());
                if context.is_null() {
                    continue;
                }
                let no_surface = ptr::null_mut();
                assert_ne!((egl.make_current)(display, no_surface, no_surface, context), 0, "eglMakeCurrent");
                let gl = Gl::load(|name| (egl.get_proc_address)(name.as_ptr()));
                return Context { gl, dialect };
            }
        }
        panic!("the driver has no context with compute shaders");
    }

    /// The driver's name of the device, and its version.
    pub fn name(&self) -> String {
        let text = |name| {
            // SAFETY: a current context; the string lives as long as the context.
            unsafe { CStr::from_ptr((self.gl.get_string)(name)) }.to_string_lossy().into_owned()
        };
        format!("{} | {}", text(RENDERER), text(VERSION))
    }

    /// A program of a compute shader, made current. Panics with the compiler's text.
    pub fn program(&self, source: &str) -> u32 {
        let gl = &self.gl;
        let text = CString::new(source).expect("no NUL in shaders");
        let mut log: [c_char; 2048] = [0; 2048];
        let (mut compiled, mut linked) = (0, 0);
        // SAFETY: a current context, and pointers to variables that live as long as the calls.
        unsafe {
            let shader = (gl.create_shader)(COMPUTE_SHADER);
            (gl.shader_source)(shader, 1, &text.as_ptr(), ptr::null());
            (gl.compile_shader)(shader);
            (gl.get_shader)(shader, COMPILE_STATUS, &mut compiled);
            (gl.shader_log)(shader, log.len() as i32, ptr::null_mut(), log.as_mut_ptr());
            assert_ne!(compiled, 0, "{}\n{source}", CStr::from_ptr(log.as_ptr()).to_string_lossy());
            let program = (gl.create_program)();
            (gl.attach_shader)(program, shader);
            (gl.link_program)(program);
            (gl.get_program)(program, LINK_STATUS, &mut linked);
            (gl.program_log)(program, log.len() as i32, ptr::null_mut(), log.as_mut_ptr());
            assert_ne!(linked, 0, "{}\n{source}", CStr::from_ptr(log.as_ptr()).to_string_lossy());
            (gl.use_program)(program);
            program
        }
    }

    /// Sets a uniform of a program that is current.
    pub fn set(&self, program: u32, name: &CStr, value: u32) {
        // SAFETY: a current context and a C string.
        unsafe {
            let location = (self.gl.uniform_location)(program, name.as_ptr());
            assert!(location >= 0, "no uniform {name:?}");
            (self.gl.uniform)(location, value);
        }
    }

    fn buffer(&self, target: u32, data: &[u32]) -> u32 {
        let mut name = 0;
        // SAFETY: a current context; the data is copied.
        unsafe {
            (self.gl.gen_buffers)(1, &mut name);
            (self.gl.bind_buffer)(target, name);
            (self.gl.buffer_data)(target, size_of_val(data) as isize, data.as_ptr().cast(), DYNAMIC_COPY);
        }
        name
    }

    /// A storage buffer at a binding.
    pub fn storage(&self, binding: u32, data: &[u32]) -> u32 {
        let name = self.buffer(STORAGE_BUFFER, data);
        // SAFETY: a current context.
        unsafe { (self.gl.bind_buffer_base)(STORAGE_BUFFER, binding, name) };
        name
    }

    /// Runs the current program on work-groups; `indirect`: whose numbers the GPU reads from memory.
    pub fn dispatch(&self, groups: [u32; 3], indirect: bool) {
        let [x, y, z] = groups;
        // SAFETY: a current context; the buffer has the three numbers.
        unsafe {
            if indirect {
                self.buffer(INDIRECT_BUFFER, &groups);
                (self.gl.dispatch_indirect)(0);
            } else {
                (self.gl.dispatch)(x, y, z);
            }
        }
    }

    /// What has been written is there for what comes.
    pub fn barrier(&self) {
        // SAFETY: a current context.
        unsafe { (self.gl.memory_barrier)(ALL_BARRIERS) };
    }

    /// What a storage buffer holds when all programs have run.
    pub fn read(&self, buffer: u32, count: usize) -> Vec<u32> {
        // SAFETY: a current context; the mapping is as large as the slice and there until it is unmapped.
        unsafe {
            (self.gl.memory_barrier)(ALL_BARRIERS);
            (self.gl.bind_buffer)(STORAGE_BUFFER, buffer);
            let memory = (self.gl.map_buffer)(STORAGE_BUFFER, 0, 4 * count as isize, MAP_READ);
            assert!(!memory.is_null(), "glMapBufferRange: error {:#x}", (self.gl.get_error)());
            let data = std::slice::from_raw_parts(memory.cast::<u32>(), count).to_vec();
            (self.gl.unmap_buffer)(STORAGE_BUFFER);
            assert_eq!((self.gl.get_error)(), 0, "glGetError");
            data
        }
    }
}

/// A texture of one level, bound to the first unit.
pub struct Texture {
    target: u32,
    name: u32,
}

impl Texture {
    /// A texture that is not filtered.
    pub fn new(context: &Context, target: u32, format: u32, [width, height, depth]: [u32; 3]) -> Texture {
        let gl = &context.gl;
        let [width, height, depth] = [width, height, depth].map(|side| side as i32);
        let mut name = 0;
        // SAFETY: a current context.
        unsafe {
            (gl.gen_textures)(1, &mut name);
            (gl.bind_texture)(target, name);
            match target {
                TEXTURE_2D => (gl.storage_2d)(target, 1, format, width, height),
                _ => (gl.storage_3d)(target, 1, format, width, height, depth),
            }
        }
        let texture = Texture { target, name };
        texture.filter(context, NEAREST);
        texture
    }

    /// Its texels are weighed.
    pub fn filter_linear(&self, context: &Context) {
        self.filter(context, LINEAR);
    }

    fn filter(&self, context: &Context, filter: i32) {
        for parameter in [MIN_FILTER, MAG_FILTER] {
            // SAFETY: a current context; the texture is bound.
            unsafe { (context.gl.texture_parameter)(self.target, parameter, filter) };
        }
    }

    /// Around it there is a colour: of floats, or of integers.
    pub fn border(&self, context: &Context, colour: [f32; 4], integers: bool) {
        let gl = &context.gl;
        // SAFETY: a current context; the texture is bound, and a colour has four numbers.
        unsafe {
            for wrap in WRAPS {
                (gl.texture_parameter)(self.target, wrap, CLAMP_TO_BORDER);
            }
            if integers {
                (gl.texture_integers)(
                    self.target,
                    BORDER_COLOR,
                    colour.map(|channel| channel as i32).as_ptr(),
                );
            } else {
                (gl.texture_floats)(self.target, BORDER_COLOR, colour.as_ptr());
            }
        }
    }

    /// It is image 0 of shaders, to be read and written.
    pub fn bind_image(&self, context: &Context, format: u32) {
        // SAFETY: a current context.
        unsafe { (context.gl.bind_image)(0, self.name, 0, 1, 0, READ_WRITE, format) };
    }
}
