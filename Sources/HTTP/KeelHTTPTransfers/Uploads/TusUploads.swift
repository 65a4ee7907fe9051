import HTTPTypes
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// tus 1.0.0: the core, with creation, expiration, checksum and termination.
struct TusUploads: UploadDialect {
    static let version = "1.0.0"

    func probe(_ head: inout HTTPRequest) {
        // The server lists its versions for a client that names none.
        head.method = .options
    }

    func create(_ head: inout HTTPRequest, length: Int64, metadata: [String: String]) {
        head.method = .post
        head.headerFields[.tusResumable] = Self.version
        head.headerFields[.uploadLength] = String(length)
        if !metadata.isEmpty {
            head.headerFields[.uploadMetadata] = metadata.sorted { $0.key < $1.key }
                .map { "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }
                .joined(separator: ",")
        }
    }

    func query(_ head: inout HTTPRequest) {
        head.method = .head
        head.headerFields[.tusResumable] = Self.version
    }

    func append(_ head: inout HTTPRequest, _ piece: UploadPiece) {
        head.method = .patch
        head.headerFields[.tusResumable] = Self.version
        head.headerFields[.uploadOffset] = String(piece.offset)
        head.headerFields[.contentType] = "application/offset+octet-stream"
    }

    func terminate(_ head: inout HTTPRequest) {
        head.method = .delete
        head.headerFields[.tusResumable] = Self.version
    }

    // MARK: Answers

    func probed(_ head: HTTPResponse) -> UploadResponse {
        let fields = head.headerFields
        if head.status.kind == .successful {
            guard let versions = fields[.tusVersion] ?? fields[.tusResumable],
                words(versions).contains(Self.version)
            else { return .unsupported }
            if let extensions = fields[.tusExtension], !words(extensions).contains("creation") {
                return .unsupported
            }
            return .offers(UploadLimits(maximumSize: fields.byteCount(.tusMaxSize)))
        }
        if [404, 405, 501].contains(head.status.code) { return .unsupported }
        return failure(head)
    }

    func created(_ head: HTTPResponse) -> UploadResponse {
        guard head.status.kind == .successful else { return failure(head) }
        guard head.headerFields[.tusResumable] != nil else { return .unsupported }
        guard let location = head.headerFields[.location] else {
            return .invalid("The server did not report the upload's location.")
        }
        return .created(
            location: location,
            UploadLimits(expires: head.headerFields[.uploadExpires])
        )
    }

    func told(_ head: HTTPResponse, length: Int64) -> UploadResponse {
        guard head.status.kind == .successful else {
            // The protocol also lets a server answer 403 for an unknown upload.
            return head.status.code == 403 ? .gone : failure(head)
        }
        guard let offset = head.headerFields.byteCount(.uploadOffset) else {
            return .invalid("The server did not report how many bytes have arrived.")
        }
        if let told = head.headerFields.byteCount(.uploadLength), told != length {
            return .conflict
        }
        return offset == length ? .complete : .arrived(offset)
    }

    func appended(_ head: HTTPResponse, _ piece: UploadPiece) -> UploadResponse {
        guard head.status.kind == .successful else { return failure(head) }
        guard let offset = head.headerFields.byteCount(.uploadOffset) else {
            return .invalid("The server did not report how many bytes have arrived.")
        }
        return piece.isLast && offset == piece.end ? .complete : .arrived(offset)
    }

    private func failure(_ head: HTTPResponse) -> UploadResponse {
        switch head.status.code {
        case 412: .unsupported
        // Another request is still writing to the upload; this one may be retried a little later.
        case 423: .refused(.serviceUnavailable, asked: head.retryAfter)
        case 460: .damaged
        default: .failure(head)
        }
    }

    private func words(_ text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map(String.init)
    }
}
