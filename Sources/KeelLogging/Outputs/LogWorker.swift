#if Logging

internal import Dispatch

/// Does work in order beside the callers, on a thread that may block.
///
/// It is a queue of Dispatch and not a task: writing to a slow disk or a full pipe would hold one of
/// the few threads of Swift's tasks.
package struct LogWorker: Sendable {
    private let begin: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let wait: @Sendable () -> Void

    /// Creates a worker out of its two abilities.
    ///
    /// - Parameters:
    ///   - begin: Starts a piece of work, after those before it.
    ///   - wait: Returns once all work that was begun is done.
    package init(
        begin: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        wait: @escaping @Sendable () -> Void
    ) {
        self.begin = begin
        self.wait = wait
    }

    /// A worker on a thread of the system.
    package static func background(_ name: String) -> LogWorker {
        let queue = DispatchQueue(label: name, qos: .utility)
        return LogWorker(begin: { queue.async(execute: $0) }, wait: { queue.sync {} })
    }

    /// Starts a piece of work, after those before it.
    package func callAsFunction(_ work: @escaping @Sendable () -> Void) { begin(work) }

    /// Returns once all work that was begun is done.
    package func finish() { wait() }
}

#endif
