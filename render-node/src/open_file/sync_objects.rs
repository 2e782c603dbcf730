//! Sync objects: containers for a fence or a timeline of fences (`drivers/gpu/drm/drm_syncobj.c`).

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Instant;

use gencl_simulator::Fence;
use gencl_sync::{Condvar, Mutex};

/// A sync object. Several open files may have handles of it.
#[derive(Default)]
pub struct SyncObject(Mutex<State>);

#[derive(Default)]
struct State {
    fence: Option<Payload>,
    waiters: Vec<Weak<Waker>>,
}

/// The fence of a sync object (a `dma_fence` or `dma_fence_chain`).
#[derive(Clone)]
pub enum Payload {
    /// Fences, all of which have to be signaled.
    Fences(Vec<Fence>),
    /// The last point of a timeline.
    Point(Arc<Point>),
}

/// A point of a timeline. It is signaled when its fences and those of all earlier points are.
pub struct Point {
    number: u64,
    /// The number of the point before, 0 if this is the first of its timeline.
    before: u64,
    /// Identity of the timeline. Points added out of order begin a new one.
    line: u64,
    fences: Vec<Fence>,
    earlier: Mutex<Option<Payload>>,
}

impl Point {
    fn earlier(&self) -> Option<Payload> {
        self.earlier.lock().clone()
    }

    /// The previous point that is not signaled; signaled ones are dropped (`dma_fence_chain_walk`).
    fn walk(&self) -> Option<Payload> {
        let mut earlier = self.earlier.lock();
        loop {
            let next = match &*earlier {
                Some(Payload::Point(point)) if signaled(&point.fences) => point.earlier(),
                Some(Payload::Fences(fences)) if signaled(fences) => None,
                _ => return earlier.clone(),
            };
            *earlier = next;
        }
    }
}

impl Drop for Point {
    /// Iterative, as dropping a long timeline recursively would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.earlier.get_mut().take();
        while let Some(Payload::Point(point)) = next {
            next = Arc::into_inner(point).and_then(|mut point| point.earlier.get_mut().take());
        }
    }
}

fn signaled(fences: &[Fence]) -> bool {
    fences.iter().all(Fence::signaled)
}

impl Payload {
    fn number(&self) -> u64 {
        match self {
            Payload::Fences(_) => 0,
            Payload::Point(point) => point.number,
        }
    }

    /// The points from this one to the oldest that is not signaled.
    fn chain(&self) -> Vec<Arc<Point>> {
        let (mut links, mut next) = (Vec::new(), Some(self.clone()));
        while let Some(Payload::Point(point)) = next {
            next = point.walk();
            links.push(point);
        }
        links
    }

    /// All unsignaled fences.
    pub fn unsignaled(&self) -> Vec<Fence> {
        let (mut out, mut next) = (Vec::new(), Some(self.clone()));
        while let Some(payload) = next {
            let (fences, earlier) = match &payload {
                Payload::Fences(fences) => (fences, None),
                Payload::Point(point) => (&point.fences, point.walk()),
            };
            out.extend(fences.iter().filter(|fence| !fence.signaled()).cloned());
            next = earlier;
        }
        out
    }

    /// All fences, including signaled ones, or those of all points of a timeline.
    fn fences(&self) -> Vec<Fence> {
        match self {
            Payload::Fences(fences) => fences.clone(),
            Payload::Point(point) => {
                let pending = self.unsignaled();
                if pending.is_empty() { point.fences.clone() } else { pending }
            }
        }
    }

    /// The smallest point not below a number (`dma_fence_chain_find_seqno`). `None` if the timeline has no
    /// such point.
    pub fn find(&self, number: u64) -> Option<Payload> {
        if number == 0 {
            return Some(self.clone());
        }
        if self.number() < number {
            return None;
        }
        let Payload::Point(newest) = self else { return None };
        let (line, mut found) = (newest.line, Arc::clone(newest));
        while found.line == line && found.before >= number {
            match found.walk() {
                Some(Payload::Point(earlier)) => found = earlier,
                Some(other) => return Some(other),
                None => return Some(Payload::Fences(vec![Fence::stub()])),
            }
        }
        Some(Payload::Point(found))
    }
}

/// Wakes a thread that waits for one of several events.
#[derive(Default)]
pub struct Waker {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Waker {
    /// Wakes the thread, or keeps it from waiting next.
    pub fn wake(&self) {
        *self.woken.lock() = true;
        self.changed.notify_all();
    }

    /// Waits until it has been woken since the last call. `false` after the deadline.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut woken = self.woken.lock();
        while !*woken {
            match deadline {
                None => self.changed.wait(&mut woken),
                Some(deadline) => {
                    if self.changed.wait_until(&mut woken, deadline).timed_out() {
                        return std::mem::take(&mut woken);
                    }
                }
            }
        }
        *woken = false;
        true
    }
}

impl SyncObject {
    /// Its fence, if there is one.
    pub fn payload(&self) -> Option<Payload> {
        self.0.lock().fence.clone()
    }

    /// `drm_syncobj_replace_fence`; `None` is "no fence yet".
    pub fn replace(&self, fences: Option<Vec<Fence>>) {
        self.set(fences.map(Payload::Fences));
    }

    fn set(&self, payload: Option<Payload>) {
        let mut state = self.0.lock();
        let old = std::mem::replace(&mut state.fence, payload);
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        drop(old);
        waiters.iter().filter_map(Weak::upgrade).for_each(|waker| waker.wake());
    }

    /// `drm_syncobj_add_point`
    pub fn add_point(&self, number: u64, fences: Vec<Fence>) {
        let mut state = self.0.lock();
        let earlier = state.fence.take();
        let previous = earlier.as_ref().map_or(0, Payload::number);
        let line = match &earlier {
            Some(Payload::Point(point)) if number > previous => point.line,
            _ => Fence::pending().context(),
        };
        let continues = matches!(&earlier, Some(Payload::Point(_))) && number > previous;
        let point = Point {
            number: number.max(previous),
            before: if continues { previous } else { 0 },
            line,
            fences,
            earlier: Mutex::new(earlier),
        };
        let payload = Payload::Point(Arc::new(point));
        // Bounds the length of the timeline.
        payload.chain();
        state.fence = Some(payload);
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.iter().filter_map(Weak::upgrade).for_each(|waker| waker.wake());
    }

    /// The fences to wait for until a point is reached. `None` if the point is not submitted or there is no
    /// fence.
    pub fn fences_of(&self, point: u64) -> Option<Vec<Fence>> {
        Some(self.payload()?.find(point)?.fences())
    }

    /// Whether there is any fence.
    pub fn has_fence(&self) -> bool {
        self.0.lock().fence.is_some()
    }

    /// Has a thread woken when the fence changes.
    pub fn wake_on_change(&self, waker: &Arc<Waker>) {
        let mut state = self.0.lock();
        state.waiters.retain(|other| other.strong_count() > 0);
        state.waiters.push(Arc::downgrade(waker));
    }
}

/// The handles of one open file.
#[derive(Default)]
pub struct SyncObjects(BTreeMap<u32, Arc<SyncObject>>);

impl SyncObjects {
    /// Creates a handle.
    pub fn insert(&mut self, object: Arc<SyncObject>) -> u32 {
        // The smallest free handle, as in the kernel.
        let taken = (1..).zip(self.0.keys()).take_while(|(free, handle)| free == *handle).count();
        let handle = taken as u32 + 1;
        self.0.insert(handle, object);
        handle
    }

    /// Removes a handle and returns its object.
    pub fn remove(&mut self, handle: u32) -> Option<Arc<SyncObject>> {
        self.0.remove(&handle)
    }

    /// The object of a handle.
    pub fn get(&self, handle: u32) -> Option<Arc<SyncObject>> {
        self.0.get(&handle).cloned()
    }
}

/// The last signaled or last submitted point of a timeline; 0 without a timeline.
pub fn query_point(payload: Option<&Payload>, submitted: bool) -> u64 {
    let Some(payload) = payload else { return 0 };
    let chain = payload.chain();
    let Some(newest) = chain.first() else { return 0 };
    if submitted {
        return newest.number;
    }
    // From the oldest on: a point is signaled when all before it are.
    let line: Vec<&Arc<Point>> = chain.iter().take_while(|point| point.line == newest.line).collect();
    let mut reached = line.last().map_or(0, |oldest| oldest.before);
    let older_done = chain.get(line.len()).is_none_or(|point| signaled(&point.fences));
    for point in line.iter().rev() {
        if !older_done || !signaled(&point.fences) {
            break;
        }
        reached = point.number;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_reached_in_order() {
        let object = SyncObject::default();
        assert!(object.fences_of(0).is_none());
        let [a, b] = [Fence::pending(), Fence::pending()];
        object.add_point(2, vec![a.clone()]);
        object.add_point(5, vec![b.clone()]);
        assert!(object.fences_of(6).is_none());
        assert!(object.fences_of(1).unwrap().iter().all(|fence| fence.same(&a)));
        assert_eq!(object.fences_of(3).unwrap().len(), 2);
        let query = |submitted| query_point(object.payload().as_ref(), submitted);
        assert_eq!((query(false), query(true)), (0, 5));
        b.complete(0);
        assert_eq!(query(false), 0);
        a.complete(0);
        assert_eq!(query(false), 5);
    }

    #[test]
    fn a_point_out_of_order_begins_anew() {
        let object = SyncObject::default();
        object.add_point(7, vec![Fence::stub()]);
        object.add_point(3, vec![Fence::stub()]);
        assert_eq!(query_point(object.payload().as_ref(), true), 7);
        for point in 8..3000 {
            object.add_point(point, vec![Fence::pending()]);
        }
        // Dropping the chain does not overflow the stack.
        object.replace(None);
    }
}
