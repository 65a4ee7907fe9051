#if canImport(Darwin)
import KeelHTTP

// Where Foundation has no background sessions, a stand-in has them.
#if canImport(FoundationNetworking)
public import CFNetwork
import Foundation
#else
public import Foundation
#endif

/// Transfers of files that the system carries on while the app is suspended, or has been ended.
///
/// ```swift
/// let background = BackgroundTransferSession("org.example.films")
/// try await download.run(in: background)
/// ```
///
/// Make one for each identifier, when the app is launched, and keep it as long as the process runs.
/// Run the transfers that are not complete again after each launch: a run finds what the system has
/// of its file, a task that is under way or one that has ended meanwhile, and goes on from there.
/// Cancelling the task that runs a transfer pauses it; when the process ends, the system goes on.
///
/// When the system has launched the app, or woken it, for the events of its transfers, hand over the
/// handler that it gave:
///
/// ```swift
/// func application(
///     _ application: UIApplication,
///     handleEventsForBackgroundURLSession identifier: String,
///     completionHandler: @escaping () -> Void
/// ) {
///     background.whenEventsAreOver { completionHandler() }
/// }
/// ```
///
/// In SwiftUI's `backgroundTask(.urlSession(_:))`, wait until the handler that you give is called.
///
/// - Important: It has not run on Apple's systems yet: the project's machines run Linux, where it is
///   compiled and tested beside a stand-in for the system.
public final class BackgroundTransferSession: Sendable {
    private let session: URLSession
    private let events = BackgroundEvents()

    var runs: BackgroundRuns { events.runs }

    /// Creates a session, to which the system hands what earlier processes have begun in it.
    ///
    /// - Parameters:
    ///   - identifier: Names the session, the same in every process of the app.
    ///   - configure: Changes the settings, the same way in every process: `isDiscretionary`,
    ///     `allowsCellularAccess` or `sharedContainerIdentifier` for example.
    public init(
        _ identifier: String,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) {
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        // As in `URLSessionTransport`, which leaves them to layers of the client.
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configure(configuration)
        session = URLSession(configuration: configuration, delegate: events, delegateQueue: nil)
    }

    // The session keeps its delegate as long as it has tasks.
    deinit { session.finishTasksAndInvalidate() }

    /// Calls a handler, once, when the events that the system has waited with have come and the runs
    /// that waited for them have made use of them: a file is then in its place, and the next piece of
    /// an upload is with the system.
    ///
    /// Hand over what `application(_:handleEventsForBackgroundURLSession:completionHandler:)` gives. A
    /// run that rests between two attempts, or asks a server, is waited for too. Another handler takes
    /// the place of one that was not called. Begin the runs first: one that has not begun is not waited
    /// for.
    public func whenEventsAreOver(_ handler: @escaping @MainActor @Sendable () -> Void) {
        runs.whenOver(handler)
    }

    // MARK: Tasks

    /// Waits for a task that an earlier run has begun, and returns what became of it.
    ///
    /// Tasks for the same file that are not wanted are cancelled.
    ///
    /// - Returns: The end of the task, which may have come before; nil where there is none.
    func earlier(
        _ purpose: BackgroundTask,
        _ watch: BackgroundWatch,
        where isWanted: @Sendable (BackgroundTask) -> Bool
    ) async -> BackgroundRuns.End? {
        let all = await withCheckedContinuation { found in
            session.getAllTasks { found.resume(returning: $0) }
        }
        var wanted: (task: URLSessionTask, purpose: BackgroundTask)?
        // One that is complete is there too, until its end has been told.
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

    /// Begins a task and waits for its end.
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
