#if PostgreSQL
internal import Foundation
internal import KeelStorageAdapting
internal import Synchronization

/// A connection and the thread on which it is used.
///
/// Work waits for the server within the calling task, but never on one of the few threads that run all tasks.
actor ConnectionThread {
    private nonisolated let executor: Executor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let connection: DatabaseConnection
    private var isClosed = false

    /// - Throws: `StorageError/Code/unavailable` if the process has no file descriptors left.
    init(
        _ name: String,
        _ settings: ConnectionSettings,
        answerLimit: Duration
    ) throws(StorageError) {
        executor = try Executor(name)
        connection = DatabaseConnection(settings, pipe: executor.pipe, answerLimit: answerLimit)
    }

    /// Runs work on the thread, within the calling task.
    ///
    /// Work that loses a connection that was already open runs again on a new one. So work that must not take effect
    /// twice must not throw a ``DatabaseFailure`` after it has sent COMMIT.
    nonisolated func run<Value: Sendable>(
        _ work: @escaping @Sendable (DatabaseConnection) throws -> Value
    ) async throws(StorageError) -> Value {
        let result = await withTaskCancellationHandler {
            await perform(work)
        } onCancel: { [executor] in
            executor.pipe.wake()
        }
        return try result.get()
    }

    private func perform<Value: Sendable>(
        _ work: @Sendable (DatabaseConnection) throws -> Value
    ) -> Result<Value, StorageError> {
        guard !isClosed else {
            return .failure(StorageError(.closed, "the adapter has been closed"))
        }
        // Waiting for the thread may have taken a while.
        if Task.isCancelled { return .failure(.cancellation) }
        let wasOpen = connection.isOpen
        do {
            return .success(try work(connection))
        } catch let failure as DatabaseFailure
            where failure.isConnectionLost && wasOpen
        {
            return Result { try StorageError.mapping { try work(connection) } }.mapError(
                StorageError.init(mapping:)
            )
        } catch {
            return .failure(StorageError(mapping: error))
        }
    }

    func close() {
        isClosed = true
        connection.close()
    }

    // MARK: The thread

    private final class Executor: SerialExecutor {
        private struct State {
            var jobs: [UnownedJob] = []
            var isOver = false
        }

        /// The jobs of the thread, which retains them instead of the executor, so that both end with the actor.
        private final class Mailbox: Sendable {
            let state = Mutex(State())
            let pipe: WakePipe

            init(_ pipe: WakePipe) { self.pipe = pipe }

            func wait() -> [UnownedJob]? {
                while true {
                    let (jobs, isOver) = state.withLock { state in
                        defer { state.jobs = [] }
                        return (state.jobs, state.isOver)
                    }
                    if !jobs.isEmpty { return jobs }
                    if isOver { return nil }
                    _ = try? pipe.wait(-1, 0, upTo: .seconds(3600))
                }
            }
        }

        let pipe: WakePipe
        private let mailbox: Mailbox

        init(_ name: String) throws(StorageError) {
            pipe = try WakePipe()
            mailbox = Mailbox(pipe)
            let thread = Thread { [weak self, mailbox] in
                while let jobs = mailbox.wait() {
                    for job in jobs {
                        // A job keeps the actor, and the actor keeps its executor.
                        guard let executor = self?.asUnownedSerialExecutor() else { return }
                        job.runSynchronously(on: executor)
                    }
                }
            }
            thread.name = name
            // Enough for a query of any depth; the system gives some threads less.
            thread.stackSize = 2 << 20
            thread.start()
        }

        deinit {
            mailbox.state.withLock { $0.isOver = true }
            pipe.wake()
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // The job may end the last use of this executor, but not of its mailbox.
            let mailbox = mailbox
            mailbox.state.withLock { $0.jobs.append(job) }
            mailbox.pipe.wake()
        }
    }
}
#endif
