import Foundation
import KeelTestKit
import Synchronization

/// Runs tasks on the thread that asks for it, one step at a time, in an order drawn from a seed.
///
/// What a task starts comes to the loop of its thread instead of the system's threads: child tasks,
/// tasks of their own, actors and `@concurrent` functions. The time is that of a ``TestClock``: it
/// moves to the next deadline when nothing is left to run. So a seed gives the same steps each
/// time, and an operation that waits when nobody runs and nobody sleeps never ends.
///
/// What leaves the thread is lost to the loop: dispatch queues, sleeps on the system's clocks, and
/// `Task.yield()`, which Swift 6.3 hands to the system's threads itself; use ``pause()``.
///
/// `@unchecked`: only the thread in ``run(_:)`` touches the state.
final class SeededLoop: TaskExecutor, @unchecked Sendable {
    /// How an operation ended.
    enum Ending {
        case returned
        case threw(any Error)
        /// It waits for what never comes.
        case stuck
        /// It took more steps than any operation should.
        case endless
    }

    private enum Step {
        case job(UnownedJob)
        case work(@Sendable () -> Void)

        /// Those that one step has brought come in the order in which their tasks were made: whoever
        /// wakes all the tasks in a dictionary does so in another order in each process.
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

    /// Runs an operation to its end, and what it leaves behind up to where that waits.
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
    /// - Returns: Why it cannot end; nil if it has.
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

    /// Wakes who sleeps until the next deadline, and perhaps others whose deadline is the same.
    private func passTime() -> Bool {
        guard clock.wakeNext() else { return false }
        while Bool.random(using: &random), clock.wakeNext(upTo: clock.now) {}
        return true
    }

    // MARK: For those who run in it

    func enqueue(_ job: consuming ExecutorJob) { ready.append(.job(UnownedJob(job))) }

    fileprivate func take(_ job: UnownedJob) { ready.append(.job(job)) }

    /// Runs some work as a step of its own.
    func add(_ work: @escaping @Sendable () -> Void) { ready.append(.work(work)) }

    /// Lets others take steps first, as many as the seed says.
    func pause() async {
        await withUnsafeContinuation { continuation in add { continuation.resume() } }
    }

    /// Waits until nobody can take a step without that time passes.
    func quiet() async {
        await withUnsafeContinuation { waitingForQuiet.append($0) }
    }
}

/// What brings the tasks of a loop's thread to the loop.
///
/// The runtime asks a function of the program's choice to take each task that is to run on the
/// threads of the system. Here it leaves those of all other threads where they would have gone.
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
        pthread_getspecific(key).map {
            Unmanaged<SeededLoop>.fromOpaque($0).takeUnretainedValue()
        }
    }

    static func running<Value>(_ loop: SeededLoop, _ body: () -> Value) -> Value {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(loop).toOpaque())
        defer { pthread_setspecific(key, outer) }
        return body()
    }
}

/// Does work on threads of its own, so that a loop in it holds none that tasks of others need.
enum LoopThreads {
    /// How many loops run at the same time.
    static let count = max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))

    /// Gives each thread its number and collects what they return.
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
