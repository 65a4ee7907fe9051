#if canImport(Darwin)
import KeelHTTP

// Without background sessions in Foundation, a stand-in provides them.
#if canImport(FoundationNetworking)
public import CFNetwork
import Foundation
#else
public import Foundation
#endif

/// A session of file transfers that the system continues while the app is suspended or terminated.
///
/// ```swift
/// let background = BackgroundTransferSession("org.example.films")
/// try await download.run(in: background)
/// ```
///
/// Create one per identifier at launch, and keep it for the life of the process. After each launch, run incomplete
/// transfers again: a run finds its task, under way or already ended, and continues from there. Canceling the task that
/// runs a transfer pauses it; ending the process does not.
///
/// When the system launches or wakes the app for its transfers, pass on the handler it provides:
///
/// ```swift
/// func application(
///     _ application: UIApplication,
///     handleEventsForBackgroundURLSession identifier: String,
///     completionHandler: @escaping () -> Void
/// ) {
///     background.onEventsFinished { completionHandler() }
/// }
/// ```
///
/// In SwiftUI's `backgroundTask(.urlSession(_:))`, wait until your handler is called.
///
/// - Important: Not yet run on Apple's systems: it is compiled and tested on Linux, with a stand-in for the system.
public final class BackgroundTransferSession: Sendable {
    private let session: URLSession
    private let events = BackgroundEvents()

    var runs: BackgroundRuns { events.runs }

    /// Creates a session, which also receives the tasks that earlier processes started in it.
    ///
    /// - Parameters:
    ///   - identifier: The name of the session, the same in every process of the app.
    ///   - configure: Changes the settings, the same way in every process, for example `isDiscretionary`,
    ///     `allowsCellularAccess` or `sharedContainerIdentifier`.
    public init(
        _ identifier: String,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) {
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        // As in `URLSessionTransport`: the client's layers handle these.
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configure(configuration)
        session = URLSession(configuration: configuration, delegate: events, delegateQueue: nil)
    }

    // The session retains its delegate while it has tasks.
    deinit { session.finishTasksAndInvalidate() }

    /// Calls a handler once, on the main actor, after the system has delivered its pending events and the runs that
    /// waited for them have processed them: files are in place, the next pieces are being sent.
    ///
    /// Pass the handler of `application(_:handleEventsForBackgroundURLSession:completionHandler:)`. Runs that pause
    /// between attempts or query a server are waited for; runs that have not begun are not, so begin them first. A new
    /// handler replaces one that was not called.
    public func onEventsFinished(_ handler: @escaping @MainActor @Sendable () -> Void) {
        runs.whenOver(handler)
    }

    // MARK: Tasks

    /// Waits for a task that an earlier run started, and cancels unwanted tasks for the same file.
    ///
    /// - Returns: The end of the task, which may be in the past, or nil if there is no such task.
    func earlier(
        _ purpose: BackgroundTask,
        _ watch: BackgroundWatch,
        where isWanted: @Sendable (BackgroundTask) -> Bool
    ) async -> BackgroundRuns.End? {
        let all = await withCheckedContinuation { found in
            session.getAllTasks { found.resume(returning: $0) }
        }
        var wanted: (task: URLSessionTask, purpose: BackgroundTask)?
        // A completed task is listed until its end has been reported.
        for task in all where !runs.isOver(task.taskIdentifier) {
            guard let other = BackgroundTask(description: task.taskDescription),
                other.key == purpose.key
            else { continue }
            if wanted == nil, isWanted(other) {
                wanted = (task, other)
            } else {
                runs.drop(task.taskIdentifier)
                task.cancel()
            }
        }
        guard let (task, other) = wanted else {
            return runs.takeEnd(purpose.key).flatMap { isWanted($0.task) ? $0 : nil }
        }
        if other.kind == .download { watch.resumed(at: task.countOfBytesReceived) }
        let outcome = await events.end(of: task, other, watch)
        return BackgroundRuns.End(task: other, outcome: outcome, isPast: false)
    }

    func end(
        of purpose: BackgroundTask,
        _ watch: BackgroundWatch,
        _ make: (URLSession) -> URLSessionTask
    ) async -> BackgroundRuns.Outcome {
        let task = make(session)
        task.taskDescription = purpose.description
        return await events.end(of: task, purpose, watch)
    }
}
#endif
