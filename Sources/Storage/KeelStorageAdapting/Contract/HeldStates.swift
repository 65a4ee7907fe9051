internal import KeelCore
package import KeelDocuments
internal import Synchronization

/// The states of a store that readers hold for a while, by their times.
package final class HeldStates<State: Sendable>: Sendable {
    private struct Held {
        let state: State
        var holders = 0
        var duration = Duration.zero
        /// Distinguishes the last request from earlier ones.
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

    /// The maximum number of held states, and the maximum time that a state is held after the last request.
    package static var most: Int { 8 }
    package static var longest: Duration { .seconds(60) }

    package init(clock: any Clock<Duration>) { self.clock = clock }

    deinit { endAll() }

    /// Reads the state of a time, and extends the hold by a duration from now, releases it for zero, or leaves it for
    /// nil.
    ///
    /// Returns nil if the state is not held.
    ///
    /// A read that fails releases nothing.
    package func read<Value, Failure: Error>(
        at time: Timestamp,
        holdingFor duration: Duration? = nil,
        _ read: (State) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard let state = begin(at: time, duration) else { return nil }
        let value = try read(state)
        if let duration, duration <= .zero { release(at: time) }
        return value
    }

    /// Reads like ``read(at:holdingFor:_:)``, with a function that waits.
    package func read<Value, Failure: Error>(
        at time: Timestamp,
        holdingFor duration: Duration?,
        waiting read: (State) async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard let state = begin(at: time, duration) else { return nil }
        let value = try await read(state)
        if let duration, duration <= .zero { release(at: time) }
        return value
    }

    private func begin(at time: Timestamp, _ duration: Duration?) -> State? {
        let state = content.withLock { $0.held[time]?.state }
        if state != nil, let duration, duration > .zero { extend(at: time, for: duration) }
        return state
    }

    package func hasEnded(_ time: Timestamp) -> Bool {
        content.withLock { $0.held[time] == nil && $0.ended.contains(time) }
    }

    package var hasRoom: Bool { content.withLock { $0.held.count < Self.most } }

    /// Holds a state for a while.
    ///
    /// A state of the same time that is already held stays, for the longest duration requested, counted from the last
    /// request.
    ///
    /// - Returns: Whether the state is held; false if there was no room or after ``endAll()``.
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

    /// Ends all holds of a state that can no longer be read, if the held one is lost and not a later one of this time.
    package func drop(at time: Timestamp, where isLost: (State) -> Bool) {
        // A state may be a connection that closes when released, so it is released outside the lock.
        let last = content.withLock { content -> State? in
            guard let held = content.held[time], isLost(held.state) else { return nil }
            held.ending?.cancel()
            Self.remove(time, from: &content)
            return held.state
        }
        _ = last
    }

    private func extend(at time: Timestamp, for duration: Duration) {
        content.withLock { content in
            guard var held = content.held[time] else { return }
            extend(&held, at: time, for: duration, in: &content)
        }
    }

    private func release(at time: Timestamp) {
        // A state may be a connection that closes when released, so it is released outside the lock.
        let last = content.withLock { content -> State? in
            guard var held = content.held[time] else { return nil }
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
        // A state may be a connection that closes when released, so it is released outside the lock.
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

    package func endAll() {
        let all = content.withLock { content in
            defer { content.held = [:] }
            content.isClosed = true
            return Array(content.held.values)
        }
        for held in all { held.ending?.cancel() }
    }
}
