public import HTTPTypes
package import KeelCore
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A download to a file that can be stopped at any moment and goes on where it stopped.
///
/// ```swift
/// let download = ResumableDownload(from: address, to: file, through: client)
/// let receipt = try await download.run()
/// ```
///
/// To pause it, cancel the task that runs it; to go on, run it again, in this process or after a
/// crash in another one, with the same file and address. Another address that leads to the same
/// contents needs an ``Configuration/expectedDigest`` or a word in
/// ``Configuration/changedAddress``. To give it up, call ``discard()``.
///
/// It promises that
///
/// - the file appears under its name once it is complete, synchronised and has the expected digest;
/// - bytes of two versions of a file never come together: a part is continued only by `Range` and
///   `If-Range` with a strong validator (RFC 9110 section 13.1.5), and begun anew otherwise;
/// - what was reported as progress is still there after a crash, also one of the machine;
/// - two downloads to one file, in this process or two, refuse each other.
///
/// Until then the bytes lie in the same folder in a file whose name begins with `.keel-`, beside a
/// small one with what is known about them. That holds no header field, and of a query a checksum.
public struct ResumableDownload: Sendable {
    let address: URL
    let file: URL
    let client: NetworkClient
    let configuration: Configuration
    let files: any FileSystem
    let shared: any FileSystem

    /// Creates a download; nothing happens before it runs.
    ///
    /// - Parameters:
    ///   - address: Where the file is, absolute or relative to the client's base URL. The client's
    ///     own header fields are sent only to the origin of its base URL.
    ///   - file: Where the file goes; its folder must exist.
    ///   - client: What carries the requests. It does not repeat them: the download does.
    ///   - configuration: How it is done.
    public init(
        from address: URL,
        to file: URL,
        through client: NetworkClient,
        configuration: Configuration = Configuration()
    ) {
        self.init(
            from: address,
            to: file,
            through: client,
            configuration: configuration,
            files: DiskFileSystem(),
            shared: DiskFileSystem(permissions: 0o666)
        )
    }

    package init(
        from address: URL,
        to file: URL,
        through client: NetworkClient,
        configuration: Configuration,
        files: any FileSystem,
        shared: any FileSystem
    ) {
        self.address = address
        self.file = file
        self.client = client
        self.configuration = configuration
        self.files = files
        self.shared = shared
    }

    /// How a download is done.
    public struct Configuration: Sendable {
        /// When it tries again, and when it gives up.
        public var retry = TransferRetry()

        /// How many bytes may be written before they are synchronised, noted and reported.
        ///
        /// A crash costs at most so many. Less costs speed: each time the disk is waited for.
        public var checkpointBytes = 32 * 1024 * 1024

        /// What becomes of a part that was fetched from another address.
        public var changedAddress = ChangedAddress.resumeIfDigestExpected

        /// The digest that the file must have; nil trusts the transport.
        public var expectedDigest: ExpectedDigest?

        /// Header fields of the requests, such as a credential for the address.
        public var headers: HTTPFields = [:]

        /// What the requests ask of the client's layers.
        public var options = HTTPCallOptions()

        /// Creates the usual configuration.
        public init() {}

        /// Whether what was fetched from one address may be continued from another.
        func mayContinue(_ earlier: DownloadAddress, at address: DownloadAddress) -> Bool {
            switch changedAddress {
            case .resume: true
            case .restart: earlier.place == address.place
            case .resumeIfDigestExpected: expectedDigest != nil || earlier == address
            }
        }
    }

    /// What becomes of a part that was fetched from another address.
    ///
    /// A validator is only unique for one address (RFC 9110 section 8.8.3): two files of one server
    /// may share one, such as `"1"` where tags count versions. Parts of both would make one file.
    public enum ChangedAddress: Sendable, Hashable {
        /// It is continued, as with ``resume``, where a digest is expected, which tells whether the
        /// parts are of one file; otherwise it is dropped, also where only the query is another.
        case resumeIfDigestExpected
        /// It is continued if the validator and the length are the same.
        ///
        /// For addresses that are signed for a short time, and for mirrors, of a server that gives
        /// each version of each file a tag of its own.
        case resume
        /// It is dropped, with a digest too. The query does not count: a fresh signature is the same
        /// address.
        case restart
    }

    /// What a download did.
    public struct Receipt: Sendable, Hashable {
        /// The length of the file.
        public let byteCount: Int64
        /// How many of them an earlier run had fetched.
        public let resumedBytes: Int64
        /// How often this run began anew.
        public let restarts: Int
        /// The strong entity tag of the file, where the server gave one.
        public let entityTag: String?
    }

    /// Fetches what is missing and puts the file in its place.
    ///
    /// - Parameter observer: Looks at the download while it runs.
    /// - Returns: What was done.
    /// - Throws: ``TransferError``; what was fetched stays, except after `digestMismatch`.
    @discardableResult @concurrent
    public func run(
        observer: ResumableTransferObserver? = nil
    ) async throws(TransferError) -> Receipt {
        defer { observer?.finish() }
        guard configuration.checkpointBytes > 0 else {
            throw TransferError(.invalidConfiguration, "checkpointBytes must be positive.")
        }
        var run = try DownloadRun(self, observer)
        return try await run.run()
    }

    /// How far the download has come, by what is on the disk; nil where nothing is.
    ///
    /// - Returns: How many bytes are safe, and how many there are.
    /// - Throws: ``TransferError``.
    @concurrent
    public func progress() async throws(TransferError) -> TransferProgress? {
        let part = try part()
        do throws(FileSystemError) {
            let found = try await DiskQueue().run { () throws(FileSystemError) in
                try part.look()
            }
            return found.record.map {
                TransferProgress(completedBytes: found.durable, totalBytes: $0.total)
            }
        } catch {
            throw TransferError(error)
        }
    }

    /// Removes what was fetched, for a download that is not wanted any more.
    ///
    /// The file itself stays if it was complete. Removing nothing succeeds.
    ///
    /// - Throws: ``TransferError``, with `inUse` while the download runs.
    @concurrent
    public func discard() async throws(TransferError) {
        let part = try part()
        do throws(FileSystemError) {
            try await DiskQueue().run { () throws(FileSystemError) in
                _ = try part.open()
                try part.discard()
                try part.unlock()
            }
        } catch {
            throw TransferError(error)
        }
    }

    /// The head of a request for the whole file.
    func head() throws(TransferError) -> HTTPRequest {
        do throws(TransportError) {
            var head = try client.head(.get, address)
            for name in Set(configuration.headers.map(\.name)) {
                head.headerFields[fields: name] = configuration.headers[fields: name]
            }
            // Offsets count the bytes that are sent: a coding on the way would move them.
            head.headerFields[.acceptEncoding] = "identity"
            return head
        } catch {
            throw TransferError(error)
        }
    }

    func part() throws(TransferError) -> DownloadFile {
        DownloadFile(
            try TransferNames(file),
            files,
            shared: shared,
            expected: configuration.expectedDigest
        )
    }
}
