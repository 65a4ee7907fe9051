/// A protocol for uploads that can be continued.
public struct ResumableUploadProtocol: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Resumable uploads for HTTP of the IETF, as the draft's interoperability version 6 has them.
    ///
    /// The version is sent in `Upload-Draft-Interop-Version`; see
    /// <https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/>.
    public static let ietf = Self("ietf-6")

    /// tus 1.0.0 with creation, and expiration, checksum and termination where the server has them;
    /// see <https://tus.io/protocols/resumable-upload>.
    public static let tus = Self("tus-1.0.0")

    /// What makes its requests and reads its answers.
    var dialect: any UploadDialect {
        self == .tus ? TusUploads() : IETFUploads()
    }
}
