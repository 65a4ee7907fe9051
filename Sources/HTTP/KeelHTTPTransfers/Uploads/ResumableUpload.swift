public import HTTPTypes
package import KeelCore
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An upload of a file that can be interrupted at any moment and resumed.
///
/// ```swift
/// let upload = ResumableUpload(of: file, to: address, through: client, protocol: .tus)
/// let receipt = try await upload.run()
/// ```
///
/// To pause it, cancel the task that runs it. To resume it, run it again, in this process or, after a crash, in
/// another. To abandon it, call ``discard()``.
///
/// It promises that
///
/// - the address of the upload is on disk before its first byte is sent, and survives a crash;
/// - only bytes acknowledged by the server are reported as progress;
/// - pieces of two versions of a file are never mixed: if the length or the date has changed, or between runs the first
///   MiB, it fails with `sourceChanged`;
/// - it never guesses whether to send a file again: if the last bytes may have been sent and the server has forgotten
///   the upload, it fails with `outcomeUnknown`;
/// - two uploads of one file to one address, in one process or two, refuse each other. Addresses with different queries
///   are different; only the parameters of AWS's, Google's and CloudFront's signatures do not count;
/// - an upload belongs to the user for whom the client signs it: another user sends the file in an upload of their own.
///   Cookies alone name no user here: the server decides whose an upload is.
///
/// The record is beside the file, in a file whose name begins with `.keel-`, or in ``Configuration/recordFolder``. It
/// contains the address of the upload, which often suffices to add to it, so only the user may read it.
public struct ResumableUpload: Sendable {
    let file: URL
    let address: URL
    let client: NetworkClient
    let kind: ResumableUploadProtocol
    let configuration: Configuration
    let files: any FileSystem

    /// Creates an upload, without starting it.
    ///
    /// - Parameters:
    ///   - file: The file to send. It must not change before the upload is complete.
    ///   - address: The address that creates uploads, absolute or relative to the client's base URL. The client's own
    ///     header fields are sent only to the origin of its base URL.
    ///   - client: The client for the requests, without its retries.
    ///   - kind: The protocol of the server.
    ///   - configuration: The configuration of the upload.
    public init(
        of file: URL,
        to address: URL,
        through client: NetworkClient,
        protocol kind: ResumableUploadProtocol = .ietf,
        configuration: Configuration = Configuration()
    ) {
        self.init(
            of: file,
            to: address,
            through: client,
            protocol: kind,
            configuration: configuration,
            files: DiskFileSystem()
        )
    }

    package init(
        of file: URL,
        to address: URL,
        through client: NetworkClient,
        protocol kind: ResumableUploadProtocol,
        configuration: Configuration,
        files: any FileSystem
    ) {
        self.file = file
        self.address = address
        self.client = client
        self.kind = kind
        self.configuration = configuration
        self.files = files
    }

    /// The configuration of an upload.
    public struct Configuration: Sendable {
        /// When to retry, and when to fail.
        public var retry = TransferRetry()

        /// The number of bytes per request, and therefore between acknowledgements; a server may ask for less or more.
        ///
        /// A broken connection costs at most what the server drops of one piece; each piece costs a round trip.
        public var pieceByteCount = 8 * 1024 * 1024

        /// Whether to ask the server for its capabilities before creating an upload.
        ///
        /// Otherwise a server without the protocol may take the creating request for an empty file.
        public var probesServer = true

        /// The fallback if the server does not offer resumable uploads.
        public var fallback = Fallback.fail

        /// The folder of the upload's record; nil means the folder of the file.
        public var recordFolder: URL?

        /// Metadata of the file that tus sends, such as `filename`; keys are printable ASCII without spaces and commas.
        public var metadata: [String: String] = [:]

        /// A checksum that tus sends with each piece, which is then read twice; nil sends none.
        public var pieceChecksum: PieceChecksum?

        /// The content type of the file, sent when the upload is created and with a plain request.
        public var contentType = "application/octet-stream"

        /// Header fields of all requests, such as a credential.
        ///
        /// They are sent only to the origin of the address: requests to an upload at another origin have none of them.
        public var headers: HTTPFields = [:]

        /// The options of the requests for the client's layers.
        public var options = HTTPCallOptions()

        /// Creates the default configuration.
        public init() {}
    }

    /// The behavior if the server does not offer resumable uploads.
    public enum Fallback: Sendable, Hashable {
        /// Fails with ``TransferError/Code/resumptionUnsupported``.
        case fail
        /// Sends the file as the body of one plain `POST`, without retries.
        case sendPlainRequest
    }

    /// A checksum that tus sends with each piece.
    public struct PieceChecksum: Sendable {
        let name: String
        let make: @Sendable () -> any TransferDigest

        /// Creates a checksum by the server's name for it, such as `sha1`.
        public init(_ name: String, by make: @escaping @Sendable () -> any TransferDigest) {
            self.name = name
            self.make = make
        }
    }

    /// The result of an upload's run.
    public struct Receipt: Sendable, Hashable {
        /// The length of the file.
        public let byteCount: Int64
        /// The number of bytes that an earlier run had sent.
        public let resumedBytes: Int64
        /// How often this run restarted.
        public let restarts: Int
        /// Whether the upload was resumable; false if the file was sent as one plain request.
        public let wasResumable: Bool
        /// The head of the last response; nil if it was lost but the upload is complete.
        public let response: HTTPResponse?
        /// The first bytes of that response's body, up to the client's `errorBodyLimit` and, in the background, 64 KiB;
        /// empty if they could not be read.
        public let body: [UInt8]
    }

    /// Sends the missing bytes.
    ///
    /// - Returns: A summary of the run.
    /// - Throws: ``TransferError``; the server keeps the bytes that were sent.
    @discardableResult @concurrent
    public func run(
        observer: ResumableTransferObserver? = nil
    ) async throws(TransferError) -> Receipt {
        defer { observer?.finish() }
        try check()
        var run = try await UploadRun(self, observer)
        return try await run.run()
    }

    func check() throws(TransferError) {
        guard configuration.pieceByteCount > 0 else {
            throw TransferError(.invalidConfiguration, "pieceByteCount must be positive.")
        }
        guard configuration.metadata.keys.allSatisfy(Self.isMetadataKey) else {
            throw TransferError(.invalidConfiguration, "A metadata key is not an ASCII word.")
        }
    }

    private static func isMetadataKey(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.allSatisfy { (33...126).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// Removes the record, and asks the server to terminate the upload.
    ///
    /// An unreachable server keeps the bytes until it drops them on its own. An upload that may be complete is
    /// forgotten only locally: terminating it might remove the file that has arrived.
    ///
    /// - Throws: ``TransferError``, with `inUse` while the upload runs.
    @concurrent
    public func discard() async throws(TransferError) {
        var run = try await UploadRun(self, nil)
        try await run.discard()
    }
}

/// A protocol for resumable uploads.
public struct ResumableUploadProtocol: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The IETF's resumable uploads for HTTP, in interoperability version 6 of the draft.
    ///
    /// See <https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/>.
    public static let ietf = Self("ietf-6")

    /// tus 1.0.0 with creation, and with expiration, checksum and termination if the server has them.
    ///
    /// See <https://tus.io/protocols/resumable-upload>.
    public static let tus = Self("tus-1.0.0")

    var dialect: any UploadDialect {
        self == .tus ? TusUploads() : IETFUploads()
    }
}
