// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
public import FoundationNetworking
internal import Synchronization

// Background sessions, which Foundation on Linux lacks. In a file that imports this module and not
// FoundationNetworking, `URLSession` means the following type; requests and responses are Foundation's.

public typealias URLRequest = FoundationNetworking.URLRequest
public typealias URLResponse = FoundationNetworking.URLResponse
public typealias HTTPURLResponse = FoundationNetworking.HTTPURLResponse

public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

/// The configuration of a session; the stand-in only uses the identifier.
public final class URLSessionConfiguration: NSObject {
    public let identifier: String?
    public var httpCookieStorage: HTTPCookieStorage?
    public var httpShouldSetCookies = true
    public var urlCache: URLCache?
    public var isDiscretionary = false

    private init(_ identifier: String) { self.identifier = identifier }

    public static func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        URLSessionConfiguration(identifier)
    }
}

/// A process's session, over the system's transfers with its identifier.
public final class URLSession: NSObject, Sendable {
    private let system: TransferSystem

    public init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue: OperationQueue?
    ) {
        system = TransferSystem.of(configuration.identifier ?? "")
        super.init()
        system.attach(self, delegate as? any URLSessionDownloadDelegate)
    }

    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        URLSessionDownloadTask(system, request)
    }

    public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        URLSessionDownloadTask(system, nil, resumeData: resumeData)
    }

    public func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL
    ) -> URLSessionUploadTask {
        URLSessionUploadTask(system, request, file: fileURL)
    }

    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        system.queue.async { [system] in completionHandler(system.tasks) }
    }

    public func finishTasksAndInvalidate() {}
}

/// A transfer in one process.
public class URLSessionTask: NSObject, @unchecked Sendable {
    public enum State: Int, Sendable {
        case running
        case suspended
        case canceling
        case completed
    }

    struct Facts {
        var description: String?
        var state = State.suspended
        var response: URLResponse?
        var received: Int64 = 0
        /// Ends the waiting calls of a process that has ended.
        var release: (@Sendable (URLSessionTask) -> Void)?
    }

    public let taskIdentifier: Int
    public let originalRequest: URLRequest?
    /// The source of an upload.
    public let file: URL?
    /// The resume data of a download.
    public let resumeData: Data?
    let system: TransferSystem
    let facts: Mutex<Facts>

    init(
        _ system: TransferSystem,
        _ request: URLRequest?,
        file: URL? = nil,
        resumeData: Data? = nil
    ) {
        self.system = system
        originalRequest = request
        self.file = file
        self.resumeData = resumeData
        facts = Mutex(Facts())
        taskIdentifier = system.number()
        super.init()
        system.begin(self)
    }

    /// Creates the same transfer in a later process.
    init(_ other: URLSessionTask, _ release: @escaping @Sendable (URLSessionTask) -> Void) {
        system = other.system
        originalRequest = other.originalRequest
        file = other.file
        resumeData = other.resumeData
        taskIdentifier = other.taskIdentifier
        facts = Mutex(
            other.facts.withLock { facts in
                defer { facts.release = release }
                return facts
            }
        )
        super.init()
    }

    func inNextProcess(_ release: @escaping @Sendable (URLSessionTask) -> Void) -> URLSessionTask {
        URLSessionTask(self, release)
    }

    public var taskDescription: String? {
        get { facts.withLock { $0.description } }
        set { facts.withLock { $0.description = newValue } }
    }

    public var state: State { facts.withLock { $0.state } }
    public var response: URLResponse? { facts.withLock { $0.response } }
    public var countOfBytesReceived: Int64 { facts.withLock { $0.received } }

    public func resume() {
        facts.withLock { facts in
            if facts.state == .suspended { facts.state = .running }
        }
    }

    public func cancel() {
        if let release = facts.withLock({ $0.release }) { return release(self) }
        system.fail(self, URLError(.cancelled))
    }
}

public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    override func inNextProcess(
        _ release: @escaping @Sendable (URLSessionTask) -> Void
    ) -> URLSessionTask {
        URLSessionDownloadTask(self, release)
    }

    public func cancel(
        byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void
    ) {
        guard facts.withLock({ $0.release }) == nil else { return completionHandler(nil) }
        let data = system.resumeData
        if !system.tellsEndFirst { completionHandler(data) }
        system.fail(self, URLError(.cancelled))
        if system.tellsEndFirst { system.queue.async { completionHandler(data) } }
    }
}

public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    override func inNextProcess(
        _ release: @escaping @Sendable (URLSessionTask) -> Void
    ) -> URLSessionTask {
        URLSessionUploadTask(self, release)
    }
}
