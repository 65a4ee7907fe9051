import HTTPTypes
import KeelHTTP

/// The requests and answers of one protocol.
///
/// A dialect keeps nothing: what happens next is up to ``UploadMachine``.
protocol UploadDialect: Sendable {
    /// Adds what asks a server for what it offers.
    func probe(_ head: inout HTTPRequest)
    /// Adds what makes an upload of so many bytes, without any of them.
    func create(_ head: inout HTTPRequest, length: Int64, metadata: [String: String])
    /// Adds what asks how many bytes have arrived.
    func query(_ head: inout HTTPRequest)
    /// Adds what sends bytes.
    func append(_ head: inout HTTPRequest, _ piece: UploadPiece)
    /// Adds what makes the server forget the upload.
    func terminate(_ head: inout HTTPRequest)

    /// What the answers mean, other than those that every protocol reads alike.
    func probed(_ head: HTTPResponse) -> UploadAnswer
    func created(_ head: HTTPResponse) -> UploadAnswer
    func told(_ head: HTTPResponse, length: Int64) -> UploadAnswer
    func appended(_ head: HTTPResponse, _ piece: UploadPiece) -> UploadAnswer
}

/// A stretch of the file.
struct UploadPiece: Codable, Hashable, Sendable {
    var offset: Int64
    var count: Int64
    /// Whether the file ends with it.
    var isLast: Bool

    var end: Int64 { offset + count }
}

/// What a server's answer means.
enum UploadAnswer: Hashable, Sendable {
    /// It speaks the protocol, within these limits.
    case offers(UploadLimits)
    /// It does not speak the protocol.
    case unsupported
    /// The upload is at this place, as the server wrote it.
    case created(location: String, UploadLimits)
    /// So many bytes have arrived.
    case arrived(Int64)
    /// The upload is complete.
    case complete
    /// There is no such upload.
    case gone
    /// The offset, or the length, is not what the server has.
    case conflict
    /// The file is larger than the server takes.
    case tooLarge
    /// The bytes were damaged on their way.
    case damaged
    /// It refused the request.
    case refused(HTTPResponse.Status, asked: Duration?)
    /// It makes no sense.
    case invalid(String)

    /// What statuses mean that every protocol reads alike.
    static func failure(_ head: HTTPResponse) -> UploadAnswer {
        switch head.status.code {
        case 404, 410: .gone
        case 409: .conflict
        case 413: .tooLarge
        default: .refused(head.status, asked: head.retryAfter)
        }
    }
}

/// What a server allows.
struct UploadLimits: Hashable, Sendable {
    var maximumSize: Int64?
    var maximumPiece: Int64?
    var minimumPiece: Int64?
    /// When the server forgets the upload, as it wrote it.
    var expires: String?
}

extension HTTPField.Name {
    /// A name that is known to be one.
    private static func upload(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name) ?? .contentType
    }

    static let uploadOffset = upload("Upload-Offset")
    static let uploadLength = upload("Upload-Length")
    static let uploadComplete = upload("Upload-Complete")
    static let uploadLimit = upload("Upload-Limit")
    static let uploadDraftInteropVersion = upload("Upload-Draft-Interop-Version")
    static let uploadMetadata = upload("Upload-Metadata")
    static let uploadExpires = upload("Upload-Expires")
    static let uploadChecksum = upload("Upload-Checksum")
    static let tusResumable = upload("Tus-Resumable")
    static let tusVersion = upload("Tus-Version")
    static let tusExtension = upload("Tus-Extension")
    static let tusMaxSize = upload("Tus-Max-Size")
}

extension HTTPFields {
    /// A number of bytes; nil where there is none, or something else.
    func byteCount(_ name: HTTPField.Name) -> Int64? {
        guard let text = self[name], !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
