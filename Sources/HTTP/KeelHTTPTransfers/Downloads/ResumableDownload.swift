public import HTTPTypes
package import KeelCore
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A download to a file that can be interrupted at any moment and resumed.
///
/// ```swift
/// let download = ResumableDownload(from: address, to: file, through: client)
/// let receipt = try await download.run()
/// ```
///
/// To pause it, cancel the task that runs it. To resume it, run it again with the same file and address, in this
/// process or, after a crash, in another. A different address with the same contents needs an
/// ``Configuration/expectedDigest`` or a suitable ``Configuration/changedAddress``. To abandon it, call ``discard()``.
///
/// It promises that
///
/// - the file appears under its name once it is complete, synchronized and has the expected digest;
/// - bytes of two versions of a file are never mixed: a part is continued only by `Range` and `If-Range` with a strong
///   validator (RFC 9110 section 13.1.5), and restarted otherwise;
/// - reported progress survives a crash, even of the machine, if the server gives a strong validator; provisional
///   progress in the background does not;
/// - a part belongs to the user for whom the client signs the requests: another one starts from the beginning, unless
///   an ``Configuration/expectedDigest`` shows that their files are the same. Cookies alone name no user here;
/// - two downloads to one file, in one process or two, refuse each other.
///
/// Until completion the bytes are in the same folder, in a file whose name begins with `.keel-`, beside a small record
/// without header fields, and with only a checksum of a query.
public struct ResumableDownload: Sendable {
    let address: URL
    let file: URL
    let client: NetworkClient
    let configuration: Configuration
    let files: any FileSystem
    let shared: any FileSystem

    /// Creates a download, without starting it.
    ///
    /// - Parameters:
    ///   - address: The address of the file, absolute or relative to the client's base URL. The client's own header
    ///     fields are sent only to the origin of its base URL.
    ///   - file: The destination, which is replaced if it exists; its folder must exist.
    ///   - client: The client for the requests, without its retries and its HTTP cache.
    ///   - configuration: The configuration of the download.
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

    /// The configuration of a download.
    public struct Configuration: Sendable {
        /// When to retry, and when to fail.
        public var retry = TransferRetry()

        /// The checkpoint interval: the bytes written before they are made durable and reported.
        ///
        /// A crash loses about this many bytes at most. Smaller values wait for the disk more often.
        public var checkpointByteCount = 32 * 1024 * 1024

        /// The treatment of a part that was fetched from another address.
        public var changedAddress = ChangedAddress.resumeIfDigestExpected

        /// The digest that the file must have; nil trusts the transport.
        public var expectedDigest: ExpectedDigest?

        /// Header fields of the requests, such as a credential for the address.
        public var headers: HTTPFields = [:]

        /// The options of the requests for the client's layers.
        public var options = HTTPCallOptions()

        /// Creates the default configuration.
        public init() {}

        func mayContinue(_ earlier: DownloadAddress, at address: DownloadAddress) -> Bool {
            if case .resumeIfDigestExpected = changedAddress, expectedDigest != nil { return true }
            // One address may have a file for each user, and all of them the same tag.
            guard earlier.user == address.user else { return false }
            return switch changedAddress {
            case .resume: true
            case .restart: earlier.place == address.place
            case .resumeIfDigestExpected: earlier == address
            }
        }
    }

    /// The treatment of a part that was fetched from another address.
    ///
    /// A validator is unique only for one address (RFC 9110 section 8.8.3): two files of a server may share one, such
    /// as `"1"` if tags count versions, and their parts would be mixed.
    public enum ChangedAddress: Sendable, Hashable {
        /// Continues the part like ``resume`` if a digest is expected, which reveals mixed files; otherwise drops it,
        /// even if only the query differs.
        case resumeIfDigestExpected
        /// Continues the part if the user, the validator and the length are the same.
        ///
        /// For briefly signed addresses and for mirrors, if each version of a file has its own tag.
        case resume
        /// Drops the part even if a digest is expected. The query, such as a signature, is ignored.
        case restart
    }

    /// The result of a download's run.
    public struct Receipt: Sendable, Hashable {
        /// The length of the file.
        public let byteCount: Int64
        /// The number of bytes that an earlier run had fetched and this one kept.
        public let resumedBytes: Int64
        /// How often this run restarted.
        public let restarts: Int
        /// The strong entity tag of the file, if the server gave one.
        public let entityTag: String?
    }

    /// Fetches the missing bytes and puts the file in its place.
    ///
    /// - Returns: A summary of the run.
    /// - Throws: ``TransferError``; fetched bytes remain, except after `digestMismatch`.
    @discardableResult @concurrent
    public func run(
        observer: ResumableTransferObserver? = nil
    ) async throws(TransferError) -> Receipt {
        defer { observer?.finish() }
        guard configuration.checkpointByteCount > 0 else {
            throw TransferError(.invalidConfiguration, "checkpointByteCount must be positive.")
        }
        var run = try await DownloadRun(self, observer)
        return try await run.run()
    }

    /// Returns the progress of the download on disk, or nil if there is none, whatever its address and user.
    ///
    /// - Returns: The number of durable bytes, and the total.
    /// - Throws: ``TransferError`` if a file cannot be read.
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

    /// Removes the fetched bytes, if any; a completed file remains.
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

    /// The user for whom the client signs the requests; nil if there is none or it is unknown.
    var user: String? {
        get async { await client.signer(of: configuration.options) }
    }

    func head() throws(TransferError) -> HTTPRequest {
        do throws(TransportError) {
            var head = try client.head(.get, address)
            for name in Set(configuration.headers.map(\.name)) {
                head.headerFields[fields: name] = configuration.headers[fields: name]
            }
            // Offsets count transferred bytes, which a content coding would change.
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
