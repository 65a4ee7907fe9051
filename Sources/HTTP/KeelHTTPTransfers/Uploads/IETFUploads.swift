import HTTPTypes
import KeelHTTP

/// Resumable uploads of the IETF, interoperability version 6.
///
/// The upload is created by a separate request without bytes ("careful upload creation"). Its address is then on disk
/// before the first byte is sent, without the informational response 104, which few transports pass on.
struct IETFUploads: UploadDialect {
    static let interopVersion = "6"

    func probe(_ head: inout HTTPRequest) {
        head.method = .options
        head.headerFields[.uploadDraftInteropVersion] = Self.interopVersion
    }

    func create(_ head: inout HTTPRequest, length: Int64, metadata: [String: String]) {
        head.method = .post
        head.headerFields[.uploadDraftInteropVersion] = Self.interopVersion
        head.headerFields[.uploadComplete] = "?0"
        head.headerFields[.uploadLength] = String(length)
    }

    func query(_ head: inout HTTPRequest) {
        head.method = .head
        head.headerFields[.uploadDraftInteropVersion] = Self.interopVersion
    }

    func append(_ head: inout HTTPRequest, _ piece: UploadPiece) {
        head.method = .patch
        head.headerFields[.uploadDraftInteropVersion] = Self.interopVersion
        head.headerFields[.uploadOffset] = String(piece.offset)
        head.headerFields[.uploadComplete] = piece.isLast ? "?1" : "?0"
        head.headerFields[.contentType] = "application/partial-upload"
    }

    func terminate(_ head: inout HTTPRequest) {
        head.method = .delete
        head.headerFields[.uploadDraftInteropVersion] = Self.interopVersion
    }

    // MARK: Answers

    func probed(_ head: HTTPResponse) -> UploadResponse {
        let fields = head.headerFields
        let speaks = fields[.uploadLimit] != nil || fields[.uploadDraftInteropVersion] != nil
        if head.status.kind == .successful {
            return speaks ? .offers(limits(fields)) : .unsupported
        }
        // Servers without OPTIONS say so in several ways.
        if [404, 405, 501].contains(head.status.code) { return .unsupported }
        return .failure(head)
    }

    func created(_ head: HTTPResponse) -> UploadResponse {
        guard head.status.kind == .successful else { return failure(head) }
        guard let location = head.headerFields[.location],
            head.headerFields.byteCount(.uploadOffset) != nil
                || head.headerFields[.uploadComplete] == "?0"
        else { return .unsupported }
        return .created(location: location, limits(head.headerFields))
    }

    func told(_ head: HTTPResponse, length: Int64) -> UploadResponse {
        guard head.status.kind == .successful else { return failure(head) }
        if head.headerFields[.uploadComplete] == "?1" { return .complete }
        guard let offset = head.headerFields.byteCount(.uploadOffset) else {
            return .invalid("The server did not report how many bytes have arrived.")
        }
        return .arrived(offset)
    }

    func appended(_ head: HTTPResponse, _ piece: UploadPiece) -> UploadResponse {
        guard head.status.kind == .successful else { return failure(head) }
        switch head.headerFields[.uploadComplete] {
        case "?1": return .complete
        case "?0": return .arrived(head.headerFields.byteCount(.uploadOffset) ?? piece.end)
        default:
            // The response to the last piece is that of the resource.
            if piece.isLast { return .complete }
            return .arrived(head.headerFields.byteCount(.uploadOffset) ?? piece.end)
        }
    }

    private func failure(_ head: HTTPResponse) -> UploadResponse {
        // The server does not know the version, or the protocol.
        head.status.code == 400 && head.headerFields[.uploadDraftInteropVersion] != nil
            && head.headerFields[.uploadDraftInteropVersion] != Self.interopVersion
            ? .unsupported : .failure(head)
    }

    /// Reads `Upload-Limit`, a dictionary of integers (RFC 9651 section 3.2).
    private func limits(_ fields: HTTPFields) -> UploadLimits {
        var limits = UploadLimits()
        for member in (fields[.uploadLimit] ?? "").split(separator: ",") {
            let pair = member.split(separator: "=", maxSplits: 1).map { text in
                String(text.drop { $0 == " " || $0 == "\t" }.prefix { $0 != ";" && $0 != " " })
            }
            guard pair.count == 2, let number = Int64(pair[1]), number >= 0 else { continue }
            switch pair[0] {
            case "max-size": limits.maximumSize = number
            case "max-append-size": limits.maximumPiece = number
            case "min-append-size": limits.minimumPiece = number
            case "max-age", "expires": limits.expires = "\(number) s"
            default: break
            }
        }
        return limits
    }
}
