/// A protocol for resumable uploads.
public struct ResumableUploadProtocol: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The IETF's resumable uploads for HTTP, in interoperability version 6 of the draft.
    ///
    /// The version is sent in `Upload-Draft-Interop-Version`; see
    /// <https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/>.
    public static let ietf = Self("ietf-6")

    /// tus 1.0.0 with creation, and with expiration, checksum and termination if the server has
    /// them; see <https://tus.io/protocols/resumable-upload>.
    public static let tus = Self("tus-1.0.0")

    /// The implementation of the protocol.
    var dialect: any UploadDialect {
        self == .tus ? TusUploads() : IETFUploads()
    }
}
