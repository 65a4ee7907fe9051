public import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The part of the system that performs background transfers, controlled by tests.
///
/// It outlives the sessions with its identifier. The next session receives the events that occurred while no process
/// had one, and then the notice that these were all.
public final class TransferSystem: Sendable {
    private typealias Event =
        @Sendable (URLSession, any URLSessionDownloadDelegate & URLSessionDataDelegate) -> Void

    /// The session of the process, which retains its delegate.
    private struct Process {
        weak var session: URLSession?
        let delegate: any URLSessionDownloadDelegate & URLSessionDataDelegate
    }

    private struct State {
        var process: Process?
        var tasks: [Int: URLSessionTask] = [:]
        var waiting: [Event] = []
        var lastNumber = 0
        var resumeData: Data?
        var tellsEndFirst = false
    }

    private static let all = Mutex<[String: TransferSystem]>([:])

    /// The queue on which a session receives events.
    let queue = DispatchQueue(label: "apple.background")
    private let state = Mutex(State())

    /// Returns the system behind the sessions of an identifier.
    public static func of(_ identifier: String) -> TransferSystem {
        all.withLock { all in
            let system = all[identifier] ?? TransferSystem()
            all[identifier] = system
            return system
        }
    }

    // MARK: Sessions

    func attach(_ session: URLSession, _ delegate: (any URLSessionDownloadDelegate)?) {
        guard let delegate = delegate as? any URLSessionDownloadDelegate & URLSessionDataDelegate
        else { return }
        let waiting = state.withLock { state in
            state.process = Process(session: session, delegate: delegate)
            defer { state.waiting = [] }
            return state.waiting
        }
        guard !waiting.isEmpty else { return }
        queue.async {
            for event in waiting { event(session, delegate) }
            delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session)
        }
    }

    func number() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    func begin(_ task: URLSessionTask) { state.withLock { $0.tasks[task.taskIdentifier] = task } }

    private func tell(_ event: @escaping Event) {
        let process = state.withLock { state in
            if state.process == nil { state.waiting.append(event) }
            return state.process
        }
        guard let process else { return }
        queue.async { if let session = process.session { event(session, process.delegate) } }
    }

    // MARK: In the hands of the tests

    /// The transfers whose end has not been reported, in the order of their start.
    public var tasks: [URLSessionTask] {
        state.withLock { state in state.tasks.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The resume data of a canceled download; nil if it cannot be resumed.
    public var resumeData: Data? {
        get { state.withLock { $0.resumeData } }
        set { state.withLock { $0.resumeData = newValue } }
    }

    /// Whether the end of a canceled download is reported before its resume data.
    public var tellsEndFirst: Bool {
        get { state.withLock { $0.tellsEndFirst } }
        set { state.withLock { $0.tellsEndFirst = newValue } }
    }

    /// Ends the process: its objects become invalid, and the transfers continue.
    ///
    /// The test can cancel waiting calls of the process, which receive nothing else.
    public func endProcess() {
        queue.sync {}
        state.withLock { state in
            let process = state.process
            let session = process?.session
            state.process = nil
            state.tasks = state.tasks.mapValues { task in
                task.inNextProcess { dead in
                    guard let process, let session else { return }
                    process.delegate.urlSession(
                        session,
                        task: dead,
                        didCompleteWithError: URLError(.cancelled)
                    )
                }
            }
        }
    }

    /// Reports progress of a transfer.
    public func move(_ task: URLSessionTask, to count: Int64, of total: Int64) {
        task.facts.withLock { $0.received = count }
        tell { session, delegate in
            if let task = task as? URLSessionDownloadTask {
                delegate.urlSession(
                    session,
                    downloadTask: task,
                    didWriteData: count,
                    totalBytesWritten: count,
                    totalBytesExpectedToWrite: total
                )
            } else {
                delegate.urlSession(
                    session,
                    task: task,
                    didSendBodyData: count,
                    totalBytesSent: count,
                    totalBytesExpectedToSend: total
                )
            }
        }
    }

    /// Reports that a download resumes at an offset.
    public func resume(_ task: URLSessionDownloadTask, at offset: Int64, of total: Int64) {
        tell { session, delegate in
            delegate.urlSession(
                session,
                downloadTask: task,
                didResumeAtOffset: offset,
                expectedTotalBytes: total
            )
        }
    }

    /// Ends a transfer with a response.
    public func answer(
        _ task: URLSessionTask,
        _ status: Int,
        _ fields: [String: String] = [:],
        _ body: [UInt8] = []
    ) {
        end(task) { session, delegate, task in
            let url = task.originalRequest?.url ?? URL(filePath: "/")
            let response = HTTPURLResponse(
                url: url,
                statusCode: status,
                httpVersion: "HTTP/1.1",
                headerFields: fields
            )
            task.facts.withLock { $0.response = response }
            if let task = task as? URLSessionDownloadTask {
                let name = "CFNetworkDownload_\(UUID().uuidString).tmp"
                let file = FileManager.default.temporaryDirectory.appending(path: name)
                try? Data(body).write(to: file)
                delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
                try? FileManager.default.removeItem(at: file)
            } else if let task = task as? URLSessionDataTask, !body.isEmpty {
                delegate.urlSession(session, dataTask: task, didReceive: Data(body))
            }
            delegate.urlSession(session, task: task, didCompleteWithError: nil)
        }
    }

    /// Ends a transfer with an error.
    public func fail(_ task: URLSessionTask, _ error: URLError, resumeData: Data? = nil) {
        var values: [String: Any] = [:]
        if let resumeData { values[NSURLSessionDownloadTaskResumeData] = resumeData }
        let failure = URLError(error.code, userInfo: values)
        end(task) { session, delegate, task in
            delegate.urlSession(session, task: task, didCompleteWithError: failure)
        }
    }

    /// Waits until the session has received all events.
    public func queueIsEmpty() { queue.sync {} }

    /// Reports to the session of this process that it has received all events.
    public func finishEvents() {
        tell { session, delegate in
            delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session)
        }
    }

    private func end(
        _ task: URLSessionTask,
        _ event:
            @escaping @Sendable (
                URLSession, any URLSessionDownloadDelegate & URLSessionDataDelegate, URLSessionTask
            ) -> Void
    ) {
        // A transfer ends once, however many objects represent it, and exists until its end is reported.
        let number = task.taskIdentifier
        guard let task = state.withLock({ $0.tasks[number] }),
            task.facts.withLock({ facts in
                defer { facts.state = .completed }
                return facts.state != .completed
            })
        else { return }
        tell { [self] session, delegate in
            let task = state.withLock { $0.tasks.removeValue(forKey: number) }
            if let task { event(session, delegate, task) }
        }
    }
}
