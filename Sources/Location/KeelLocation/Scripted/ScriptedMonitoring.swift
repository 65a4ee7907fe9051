internal import Synchronization

final class ScriptedMonitoring: Sendable {
    private struct State {
        var waiting: [LocationEvent] = []
        var isReporting = false
        var isOver = false
        var obstacle: LocationError?
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let report: @Sendable (LocationEvent) -> Void

    init(_ report: @escaping @Sendable (LocationEvent) -> Void) { self.report = report }

    /// Plays the track; only the first call has an effect.
    func play(_ track: LocationTrack, on clock: any Clock<Duration>) {
        guard !track.steps.isEmpty else { return }
        state.withLock { state in
            guard !state.isOver, state.task == nil else { return }
            state.task = Task { [self] in await run(track, on: clock) }
        }
    }

    private func run(_ track: LocationTrack, on clock: any Clock<Duration>) async {
        repeat {
            for step in track.steps {
                if step.pause > .zero {
                    guard (try? await clock.sleep(for: step.pause)) != nil else { return }
                }
                guard !Task.isCancelled else { return }
                send(step.event)
            }
        } while track.isEndless
    }

    func enqueueStart(_ obstacle: LocationError?) {
        enqueue { state in
            state.obstacle = obstacle
            return obstacle.map { .failure($0) } ?? .searching
        }
    }

    func enqueueObstacle(_ obstacle: LocationError?) {
        enqueue { state in
            defer { state.obstacle = obstacle }
            if let obstacle { return .failure(obstacle) }
            return state.obstacle == nil ? nil : .searching
        }
    }

    func send(_ event: LocationEvent) {
        enqueue { $0.obstacle == nil ? event : nil }
        drain()
    }

    private func enqueue(_ event: (inout State) -> LocationEvent?) {
        state.withLock { state in
            guard let event = event(&state), !state.isOver else { return }
            state.waiting.append(event)
        }
    }

    /// Reports the queued events in order; concurrent calls leave their events to the first.
    func drain() {
        let isFree = state.withLock { state in
            guard !state.isReporting, !state.waiting.isEmpty else { return false }
            state.isReporting = true
            return true
        }
        guard isFree else { return }
        while let next = next() { report(next) }
    }

    private func next() -> LocationEvent? {
        state.withLock { state in
            guard !state.isOver, !state.waiting.isEmpty else {
                state.isReporting = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    func end() {
        let task = state.withLock { state in
            state.isOver = true
            state.waiting = []
            return state.task.take()
        }
        task?.cancel()
    }
}
