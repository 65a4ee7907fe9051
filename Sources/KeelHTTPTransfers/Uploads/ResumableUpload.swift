public import HTTPTypes
package import KeelCore
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An upload of a file that can be stopped at any moment and goes on where it stopped.
///
/// ```swift
/// let upload = ResumableUpload(of: file, to: address, through: client, by: .tus)
/// let receipt = try await upload.run()
/// ```
///
/// To pause it, cancel the task that runs it; to go on, run it again, in this process or after a
/// crash in another one. To give it up, call ``discard()``.
///
/// It promises that
///
/// - the address of the upload is on the disk before its first byte is sent, so that a killed
///   process goes on with the same upload;
/// - only bytes that the server has acknowledged are reported as progress;
/// - pieces of two versions of a file never come together: where the length, the date or the first
///   bytes have changed, it fails with `sourceChanged`;
/// - it never sends a file twice on a guess: where all was sent and the server has forgotten the
///   upload, it fails with `outcomeUnknown`;
/// - two uploads of one file to one address, in this process or two, refuse each other.
///
/// What it notes lies beside the file, in one whose name begins with `.keel-`, or in
/// ``Configuration/records``. That holds the address of the upload, which is often all that it takes
/// to add to it: only the user may read it.
public struct ResumableUpload: Sendable {
    let file: URL
    let address: URL
    let client: NetworkClient
    let kind: ResumableUploadProtocol
    let configuration: Configuration
    let files: any FileSystem

    /// Creates an upload; nothing happens before it runs.
    ///
    /// - Parameters:
    ///   - file: The file to send. It must not change before the upload is complete.
    ///   - address: Where uploads are made, absolute or relative to the client's base URL. The
    ///     client's own header fields are sent only to the origin of its base URL.
    ///   - client: What carries the requests. It does not repeat them: the upload does.
    ///   - kind: The protocol that the server speaks.
    ///   - configuration: How it is done.
    public init(
        of file: URL,
        to address: URL,
        through client: NetworkClient,
        by kind: ResumableUploadProtocol = .ietf,
        configuration: Configuration = Configuration()
    ) {
        self.init(
            of: file,
            to: address,
            through: client,
            by: kind,
            configuration: configuration,
            files: DiskFileSystem()
        )
    }

    package init(
        of file: URL,
        to address: URL,
        through client: NetworkClient,
        by kind: ResumableUploadProtocol,
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

    /// How an upload is done.
    public struct Configuration: Sendable {
        /// When it tries again, and when it gives up.
        public var retry = TransferRetry()

        /// How many bytes are sent in one request, and so how often progress is acknowledged.
        ///
        /// A server may ask for less or more. A connection that breaks costs at most what the
        /// server drops of one piece; each piece costs a round trip.
        public var pieceBytes = 8 * 1024 * 1024

        /// Whether a server is asked what it offers before an upload is made.
        ///
        /// Without that, a server that knows nothing of the protocol may take the request that
        /// makes the upload for an empty file.
        public var asksFirst = true

        /// What is done where the server does not offer resumable uploads.
        public var withoutSupport = WithoutSupport.fail

        /// The folder for what is noted about the upload; nil is the folder of the file.
        public var records: URL?

        /// What tus tells the server about the file, such as `filename`; keys are ASCII words.
        public var metadata: [String: String] = [:]

        /// A checksum that tus sends with each piece; nil sends none.
        ///
        /// Each piece is then read twice.
        public var pieceChecksum: PieceChecksum?

        /// The content type of the file, sent where the upload is made.
        public var contentType = "application/octet-stream"

        /// Header fields of all requests, such as a credential.
        ///
        /// They go only to the origin of the address: where the server keeps uploads elsewhere,
        /// requests there have none of them.
        public var headers: HTTPFields = [:]

        /// What the requests ask of the client's layers.
        public var options = HTTPCallOptions()

        /// Creates the usual configuration.
        public init() {}
    }

    /// What is done where the server does not offer resumable uploads.
    public enum WithoutSupport: Sendable, Hashable {
        /// The upload fails with ``TransferError/Code/resumptionUnsupported``.
        case fail
        /// The file is sent as the body of one plain `POST`, which is made once.
        case sendWhole
    }

    /// A checksum that tus sends with each piece.
    public struct PieceChecksum: Sendable {
        let name: String
        let make: @Sendable () -> any TransferDigest

        /// Creates a checksum by the name that the server knows it by, such as `sha1`.
        public init(_ name: String, by make: @escaping @Sendable () -> any TransferDigest) {
            self.name = name
            self.make = make
        }
    }

    /// What an upload did.
    public struct Receipt: Sendable, Hashable {
        /// The length of the file.
        public let byteCount: Int64
        /// How many of its bytes an earlier run had sent.
        public let resumedBytes: Int64
        /// How often this run began anew.
        public let restarts: Int
        /// Whether the protocol was spoken; false where the file was sent as one plain request.
        public let wasResumable: Bool
        /// The head of the last response; nil where it was lost, and the server said afterwards that
        /// the upload is complete.
        public let response: HTTPResponse?
        /// The body of that response.
        public let body: [UInt8]
    }

    /// Sends what is missing.
    ///
    /// - Parameter observer: Looks at the upload while it runs.
    /// - Returns: What was done.
    /// - Throws: ``TransferError``; what was sent stays with the server.
    @discardableResult @concurrent
    public func run(
        observer: ResumableTransferObserver? = nil
    ) async throws(TransferError) -> Receipt {
        defer { observer?.finish() }
        try check()
        var run = try UploadRun(self, observer)
        return try await run.run()
    }

    /// Refuses a configuration that nothing can be made of.
    func check() throws(TransferError) {
        guard configuration.pieceBytes > 0 else {
            throw TransferError(.invalidConfiguration, "pieceBytes must be positive.")
        }
        guard configuration.metadata.keys.allSatisfy(Self.isMetadataKey) else {
            throw TransferError(.invalidConfiguration, "A key of the metadata is not a word.")
        }
    }

    private static func isMetadataKey(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.allSatisfy { (33...126).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// Forgets the upload, and asks the server to do so too.
    ///
    /// Where the server cannot be reached, it keeps what it has until it drops it by itself. An
    /// upload that may be complete is forgotten on this side only: to end it at the server might
    /// remove the file that has arrived.
    ///
    /// - Throws: ``TransferError``, with `inUse` while the upload runs.
    @concurrent
    public func discard() async throws(TransferError) {
        var run = try UploadRun(self, nil)
        try await run.discard()
    }
}
