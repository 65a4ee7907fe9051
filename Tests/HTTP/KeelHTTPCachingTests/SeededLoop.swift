import Foundation
import KeelTestKit
import Synchronization

/// Runs tasks on the calling thread, one step at a time, in an order drawn from a seed.
///
/// Everything that a task starts runs in its thread's loop instead of the system's threads: child
/// tasks, unstructured tasks, actors and `@concurrent` functions. Time is that of a ``TestClock``,
/// which moves to the next deadline when nothing is left to run. A seed therefore gives the same
/// steps every time, and an operation that waits while nothing runs or sleeps never ends.
///
/// Work that leaves the thread escapes the loop: dispatch queues, sleeps on the system's clocks,
/// and `Task.yield()`, which Swift 6.3 passes to the system's threads itself; use ``pause()``.
///
/// `@unchecked`: only the thread in ``run(_:)`` touches the state.
final class SeededLoop: TaskExecutor, @unchecked Sendable {
    enum Ending {
        case returned
        case threw(any Error)
        /// The operation waits forever.
        case stuck
        /// The operation exceeded the limit on steps.
        case endless
    }

    private enum Step {
        case job(UnownedJob)
        case work(@Sendable () -> Void)

        /// Jobs made ready by one step are ordered by the creation of their tasks, because code
        /// that resumes all tasks in a dictionary does so in a different order in each process.
        var order: Int {
            guard case .job(let job) = self else { return 0 }
            return job.description.utf8.reduce(0) { number, byte in
                (48...57).contains(byte) ? number * 10 + Int(byte - 48) : number
            }
        }
    }

    private static let stepLimit = 1_000_000

    private let clock: TestClock
    private var random: SeededRandom
    private var ready: [Step] = []
    private var waitingForQuiet: [UnsafeContinuation<Void, Never>] = []
    private(set) var stepCount = 0

    init(seed: UInt64, _ clock: TestClock) {
        random = SeededRandom(seed: seed)
        self.clock = clock
    }

    // MARK: Running

    /// Runs an operation to its end, and its leftover tasks until they wait.
    func run(_ operation: @escaping @Sendable () async throws -> Void) -> Ending {
        guard LoopHook.isInstalled else { return .threw(NoHook()) }
        return LoopHook.running(self) {
            let outcome = Outcome()
            let task = Task {
                do {
                    try await operation()
                    outcome.set(.returned)
                } catch {
                    outcome.set(.threw(error))
                }
            }
            let failure = drive { outcome.ending != nil }
            if failure != nil {
                task.cancel()
                _ = drive { true }
            }
            return failure ?? outcome.ending ?? .stuck
        }
    }

    private struct NoHook: Error, CustomStringConvertible {
        var description: String { "This Swift runtime does not let a test run its tasks." }
    }

    private final class Outcome: Sendable {
        private let state = Mutex<Ending?>(nil)
        var ending: Ending? { state.withLock { $0 } }
        func set(_ ending: Ending) { state.withLock { $0 = ending } }
    }

    /// Takes steps until nothing is left to run and the operation has ended.
    ///
    /// - Returns: Why the operation cannot end, or nil if it has.
    private func drive(until hasEnded: () -> Bool) -> Ending? {
        let last = stepCount + Self.stepLimit
        while stepCount < last {
            if !ready.isEmpty {
                takeStep()
            } else if let waiting = waitingForQuiet.popLast() {
                waiting.resume()
            } else if hasEnded() {
                return nil
            } else if !passTime() {
                return .stuck
            }
        }
        return .endless
    }

    private func takeStep() {
        stepCount += 1
        let index = ready.count == 1 ? 0 : Int.random(in: 0..<ready.count, using: &random)
        ready.swapAt(index, ready.count - 1)
        let step = ready.removeLast()
        let count = ready.count
        switch step {
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .work(let work): work()
        }
        if ready.count > count + 1 { ready[count...].sort { $0.order < $1.order } }
    }

    /// Wakes a sleeper with the next deadline, and perhaps others with the same deadline.
    private func passTime() -> Bool {
        guard clock.wakeNext() else { return false }
        while Bool.random(using: &random), clock.wakeNext(upTo: clock.now) {}
        return true
    }

    // MARK: For code in the loop

    func enqueue(_ job: consuming ExecutorJob) { ready.append(.job(UnownedJob(job))) }

    fileprivate func take(_ job: UnownedJob) { ready.append(.job(job)) }

    /// Runs work as a separate step.
    func add(_ work: @escaping @Sendable () -> Void) { ready.append(.work(work)) }

    /// Lets other tasks take steps first, as many as the seed says.
    func pause() async {
        await withUnsafeContinuation { continuation in add { continuation.resume() } }
    }

    /// Waits until no task can take a step without time passing.
    func quiet() async { await withUnsafeContinuation { waitingForQuiet.append($0) } }
}

/// Redirects the tasks of a loop's thread to the loop.
///
/// The runtime lets the program choose a function that takes each task due to run on the system's
/// threads. Tasks of all other threads go where they would have gone.
private enum LoopHook {
    typealias Original = @convention(thin) (UnownedJob) -> Void
    typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    static let isInstalled: Bool = {
        guard let place = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
            return false
        }
        place.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
            if let loop = LoopHook.current { loop.take(job) } else { original(job) }
        }
        return true
    }()

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var current: SeededLoop? {
        pthread_getspecific(key).map { Unmanaged<SeededLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    static func running<Value>(_ loop: SeededLoop, _ body: () -> Value) -> Value {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(loop).toOpaque())
        defer { pthread_setspecific(key, outer) }
        return body()
    }
}

/// Runs work on separate threads, so that a loop in it blocks none that other tasks need.
enum LoopThreads {
    /// The number of loops that run concurrently.
    static let count = max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))

    /// Passes each thread its number, and collects the results.
    static func map<Value: Sendable>(
        _ work: @escaping @Sendable (_ thread: Int) -> Value
    ) async -> [Value] {
        await withTaskGroup(of: Value.self) { group in
            for number in 0..<count {
                group.addTask {
                    await withUnsafeContinuation { continuation in
                        Thread { continuation.resume(returning: work(number)) }.start()
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
