//! The protocol of the compile server.

use std::fmt::Debug;

use gencl_eu::abi;
use gencl_program::protocol::{FromServer, ToServer, read_message, write_message};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Messages in both directions. Decoded messages are encoded and decoded again, with the same result.
pub fn protocol(data: &[u8]) {
    for message in conversation(data) {
        if let ToServer::Translate(request) = message {
            inner::<abi::Request>(&request);
        }
    }
    for message in conversation(data) {
        if let FromServer::Translated(answer) = message {
            inner::<abi::Answer>(&answer);
        }
    }
}

fn conversation<T: Serialize + DeserializeOwned + PartialEq + Debug>(mut stream: &[u8]) -> Vec<T> {
    let mut messages = Vec::new();
    while let Ok(Some(message)) = read_message::<T>(&mut stream) {
        let mut bytes = Vec::new();
        write_message(&mut bytes, &message).expect("what was read can be written");
        assert_eq!(read_message(&mut bytes.as_slice()).expect("as it was written").as_ref(), Some(&message));
        messages.push(message);
    }
    messages
}

/// Requests and answers of the translator, inside of messages.
fn inner<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    if let Ok(value) = postcard::from_bytes::<T>(bytes) {
        let again = postcard::to_stdvec(&value).expect("what was read can be written");
        assert!(postcard::from_bytes::<T>(&again).is_ok());
    }
}
