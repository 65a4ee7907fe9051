import Foundation
import Synchronization

/// Waits for Ctrl-C or a termination request, instead of ending the process.
///
/// The signals have a handler and are not ignored, because started programs would inherit that and could no longer be
/// ended.
struct SignalWaiter: Sendable {
    private static let hasCome = Atomic(false)

    init() {
        // Accessed here, so that the handler only stores.
        Self.hasCome.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in Self.hasCome.store(true, ordering: .relaxed) }
        }
    }

    /// Returns once a signal has arrived or the task is canceled.
    func wait() async {
        while !Self.hasCome.load(ordering: .relaxed) {
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        }
    }
}
