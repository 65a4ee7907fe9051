import Foundation
import Synchronization

/// Waits for Ctrl-C or a request to end, in place of dying of it.
///
/// The signals get a handler and are not ignored: what a program ignores, the programs that it
/// starts ignore too, and could no longer be ended.
struct SignalWaiter: Sendable {
    private static let hasCome = Atomic(false)

    init() {
        // Touched here, so that the handler only stores.
        Self.hasCome.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in Self.hasCome.store(true, ordering: .relaxed) }
        }
    }

    /// Returns when a signal has come, or the task is cancelled.
    func wait() async {
        while !Self.hasCome.load(ordering: .relaxed) {
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        }
    }
}
