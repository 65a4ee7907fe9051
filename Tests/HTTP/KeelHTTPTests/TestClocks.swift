import KeelHTTP
import Synchronization

struct TestInstant: InstantProtocol {
    var offset: Duration = .zero

    func advanced(by duration: Duration) -> TestInstant { TestInstant(offset: offset + duration) }
    func duration(to other: TestInstant) -> Duration { other.offset - offset }
    static func < (one: TestInstant, other: TestInstant) -> Bool { one.offset < other.offset }
}

/// A clock that stands still until a test opens it.
final class GateClock: Clock, Sendable {
    private struct State {
        var requested: [Duration] = []
        var openings = 0
        var sleepers: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    var now: TestInstant { TestInstant() }
    var minimumResolution: Duration { .zero }

    var sleeps: [Duration] { state.withLock { $0.requested } }

    /// Ends the current sleeps, or the next one.
    func open() {
        let sleepers = state.withLock { state in
            if state.sleepers.isEmpty { state.openings += 1 }
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.yield() }
    }

    func sleep(until deadline: TestInstant, tolerance: Duration?) async throws {
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self)
        let id = state.withLock { state in
            state.requested.append(deadline.offset)
            return state.requested.count
        }
        try await withTaskCancellationHandler {
            state.withLock { state in
                // A canceled sleeper must not use up an opening meant for another.
                if Task.isCancelled { return }
                if state.openings > 0 {
                    state.openings -= 1
                    continuation.yield()
                } else {
                    state.sleepers[id] = continuation
                }
            }
            defer { state.withLock { $0.sleepers[id] = nil } }
            for await _ in wakes { return }
            throw CancellationError()
        } onCancel: {
            state.withLock { $0.sleepers[id] = nil }
        }
    }

    /// Waits until the task is canceled.
    func wait() async throws(TransportError) {
        do {
            try await sleep(until: TestInstant(), tolerance: nil)
        } catch { throw TransportError(.cancelled) }
    }
}
