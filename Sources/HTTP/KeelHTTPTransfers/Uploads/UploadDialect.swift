import HTTPTypes
import KeelHTTP

/// The requests and responses of one protocol, without state or decisions.
protocol UploadDialect: Sendable {
    func probe(_ head: inout HTTPRequest)
    /// Makes the request that creates an upload of a length, without bytes.
    func create(_ head: inout HTTPRequest, length: Int64, metadata: [String: String])
    func query(_ head: inout HTTPRequest)
    func append(_ head: inout HTTPRequest, _ piece: UploadPiece)
    func terminate(_ head: inout HTTPRequest)

    /// Interprets responses, apart from those common to all protocols.
    func probed(_ head: HTTPResponse) -> UploadResponse
    func created(_ head: HTTPResponse) -> UploadResponse
    func told(_ head: HTTPResponse, length: Int64) -> UploadResponse
    func appended(_ head: HTTPResponse, _ piece: UploadPiece) -> UploadResponse
}

struct UploadPiece: Codable, Hashable, Sendable {
    var offset: Int64
    var count: Int64
    var isLast: Bool

    var end: Int64 { offset + count }
}

/// The meaning of a server's response.
enum UploadResponse: Hashable, Sendable {
    case offers(UploadLimits)
    case unsupported
    /// The upload is at this location, as the server wrote it.
    case created(location: String, UploadLimits)
    case arrived(Int64)
    case complete
    case gone
    case conflict
    case tooLarge
    case damaged
    case refused(HTTPResponse.Status, asked: Duration?)
    case invalid(String)

    /// Returns the meaning of statuses common to all protocols.
    static func failure(_ head: HTTPResponse) -> UploadResponse {
        switch head.status.code {
        case 404, 410: .gone
        case 409: .conflict
        case 413: .tooLarge
        default: .refused(head.status, asked: head.retryAfter)
        }
    }
}

struct UploadLimits: Hashable, Sendable {
    var maximumSize: Int64?
    var maximumPiece: Int64?
    var minimumPiece: Int64?
    /// When the server forgets the upload, as it wrote it.
    var expires: String?
}

extension HTTPField.Name {
    static let uploadOffset = known("Upload-Offset")
    static let uploadLength = known("Upload-Length")
    static let uploadComplete = known("Upload-Complete")
    static let uploadLimit = known("Upload-Limit")
    static let uploadDraftInteropVersion = known("Upload-Draft-Interop-Version")
    static let uploadMetadata = known("Upload-Metadata")
    static let uploadExpires = known("Upload-Expires")
    static let uploadChecksum = known("Upload-Checksum")
    static let tusResumable = known("Tus-Resumable")
    static let tusVersion = known("Tus-Version")
    static let tusExtension = known("Tus-Extension")
    static let tusMaxSize = known("Tus-Max-Size")
}

extension HTTPFields {
    /// Returns a number of bytes, or nil if the field is missing or invalid.
    func byteCount(_ name: HTTPField.Name) -> Int64? {
        guard let text = self[name], !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
