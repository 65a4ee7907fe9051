#if Logging

internal import Dispatch

/// Runs work in order in the background, on a thread that may block.
///
/// A Dispatch queue instead of a task: a slow disk or a full pipe would block one of the few threads of Swift's
/// cooperative pool.
package struct LogWorker: Sendable {
    private let begin: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let wait: @Sendable () -> Void

    /// Creates a worker: `begin` enqueues work after all earlier work, and `wait` returns once all of it is done.
    package init(
        begin: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        wait: @escaping @Sendable () -> Void
    ) {
        self.begin = begin
        self.wait = wait
    }

    package static func background(_ name: String) -> LogWorker {
        let queue = DispatchQueue(label: name, qos: .utility)
        return LogWorker(begin: { queue.async(execute: $0) }, wait: { queue.sync {} })
    }

    package func callAsFunction(_ work: @escaping @Sendable () -> Void) { begin(work) }

    package func finish() { wait() }
}

#endif
