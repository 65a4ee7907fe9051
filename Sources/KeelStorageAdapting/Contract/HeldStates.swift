internal import KeelCore
package import KeelDocuments
internal import Synchronization

/// States of a store that readers have asked to hold for a while, by their times.
///
/// Their number and duration are bounded, because a store cannot discard what has been replaced since
/// a state that it holds.
package final class HeldStates<State: Sendable>: Sendable {
    private struct Held {
        let state: State
        /// How many requests have begun to hold it and have not let go of it.
        var holders = 0
        /// The longest that a request has asked for.
        var duration = Duration.zero
        /// Tells the last request from those before it.
        var number = 0
        var ending: Task<Void, Never>?
    }

    private struct Content {
        var held: [Timestamp: Held] = [:]
        var ended: [Timestamp] = []
        var count = 0
        var isClosed = false
    }

    private let content = Mutex(Content())
    private let clock: any Clock<Duration>

    /// The most states at a time, and the longest that one is held without being asked for again.
    package static var most: Int { 8 }
    package static var longest: Duration { .seconds(60) }

    package init(clock: any Clock<Duration>) { self.clock = clock }

    deinit { endAll() }

    /// The state of a time, nil if it is not held.
    package func state(at time: Timestamp) -> State? {
        content.withLock { $0.held[time]?.state }
    }

    /// Whether the state of a time was held, and is not any more.
    package func hasEnded(_ time: Timestamp) -> Bool {
        content.withLock { $0.held[time] == nil && $0.ended.contains(time) }
    }

    /// Whether one more state can be held.
    package var hasRoom: Bool { content.withLock { $0.held.count < Self.most } }

    /// Holds a state for a while; a state of the same time that is held already stays, for at least as
    /// long as any request has asked for, counted from the last one.
    ///
    /// - Returns: Whether there was room for it; false after ``endAll()``.
    package func hold(_ state: State, at time: Timestamp, for duration: Duration) -> Bool {
        content.withLock { content in
            guard !content.isClosed,
                content.held[time] != nil || content.held.count < Self.most
            else { return false }
            var held = content.held[time] ?? Held(state: state)
            held.holders += 1
            extend(&held, at: time, for: duration, in: &content)
            return true
        }
    }

    /// Holds a state that is held for a while longer; a duration of zero lets go of it.
    ///
    /// A state that several requests have begun to hold ends when the last one lets go of it.
    package func extend(at time: Timestamp, for duration: Duration) {
        // The state may be a connection, which closes when it is released: not under the lock.
        let last = content.withLock { content -> State? in
            guard var held = content.held[time] else { return nil }
            guard duration <= .zero else {
                extend(&held, at: time, for: duration, in: &content)
                return nil
            }
            held.holders -= 1
            guard held.holders <= 0 else {
                content.held[time] = held
                return nil
            }
            held.ending?.cancel()
            Self.remove(time, from: &content)
            return held.state
        }
        _ = last
    }

    private func extend(
        _ held: inout Held,
        at time: Timestamp,
        for duration: Duration,
        in content: inout Content
    ) {
        content.count += 1
        held.number = content.count
        held.duration = max(held.duration, min(duration, Self.longest))
        held.ending?.cancel()
        held.ending = Task { [weak self, clock, number = held.number, wait = held.duration] in
            try? await clock.sleep(for: wait, tolerance: nil)
            self?.end(number, at: time)
        }
        content.held[time] = held
    }

    private func end(_ number: Int, at time: Timestamp) {
        // The state may be a connection, which closes when it is released: not under the lock.
        let last = content.withLock { content -> State? in
            guard let held = content.held[time], held.number == number else { return nil }
            Self.remove(time, from: &content)
            return held.state
        }
        _ = last
    }

    private static func remove(_ time: Timestamp, from content: inout Content) {
        content.held[time] = nil
        content.ended.append(time)
        if content.ended.count > 64 { content.ended.removeFirst() }
    }

    /// Ends all of them, and holds no further ones.
    package func endAll() {
        let all = content.withLock { content in
            defer { content.held = [:] }
            content.isClosed = true
            return Array(content.held.values)
        }
        for held in all { held.ending?.cancel() }
    }
}
