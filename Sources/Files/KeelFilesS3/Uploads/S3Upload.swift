#if Crypto
internal import Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles
internal import KeelHTTP

struct S3Upload: Sendable {
    static let mostParts = 10_000

    let connection: S3Connection
    let file: S3NewFile
    let id: String
    /// The record on disk; nil if none is kept.
    let manifest: UploadManifest?
    /// The parts that the server has from an earlier attempt.
    let known: [Int: S3Part]
    /// Whether an earlier attempt, which has left a record, may have completed an upload of the file.
    var mayBeCompleted = false

    private var configuration: S3FileStoreAdapter.Configuration { connection.configuration }

    // MARK: Starting and resuming

    /// Resumes the recorded upload, or begins a new one.
    static func begun(
        _ file: S3NewFile,
        _ partByteCount: Int,
        _ connection: S3Connection
    ) async throws(S3Failure) -> S3Upload {
        let place =
            connection.address.scheme + "://" + connection.address.authority
            + connection.address.pathPrefix
        guard let folder = connection.configuration.uploadFolder else {
            return S3Upload(
                connection: connection,
                file: file,
                id: try await newID(file, connection),
                manifest: nil,
                known: [:]
            )
        }
        let path = UploadManifest.path(in: folder, place: place, key: file.key)
        func head(_ id: String) -> UploadManifest.Head {
            UploadManifest.Head(
                place: place,
                key: file.key,
                uploadID: id,
                partByteCount: partByteCount,
                fields: file.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"),
                checksum: connection.configuration.checksum?.rawValue
            )
        }
        let old = try notes(in: folder) { () throws(FileSystemError) in
            try DiskFileSystem().makeFolder(folder)
            return try UploadManifest.open(path)
        }
        if let old {
            if old.head == head(old.head.uploadID),
                let known = try await parts(of: old, file, connection)
            {
                return S3Upload(
                    connection: connection,
                    file: file,
                    id: old.head.uploadID,
                    manifest: old,
                    known: known,
                    mayBeCompleted: true
                )
            }
            await abort(old.head.uploadID, of: file.key, connection)
        }
        let id = try await newID(file, connection)
        let manifest = try notes(in: folder) { () throws(FileSystemError) in
            guard let old else { return try UploadManifest.begin(path, head(id)) }
            return try old.restarted(head(id))
        }
        return S3Upload(
            connection: connection,
            file: file,
            id: id,
            manifest: manifest,
            known: [:],
            mayBeCompleted: old != nil
        )
    }

    /// Returns the parts that the record and the server agree on, or nil if the server does not have the upload.
    private static func parts(
        of manifest: UploadManifest,
        _ file: S3NewFile,
        _ connection: S3Connection
    ) async throws(S3Failure) -> [Int: S3Part]? {
        var kept: [Int: S3Part] = [:]
        var marker: String?
        repeat {
            var call = S3Call(.get, file.key)
            call.query = [(name: "uploadId", value: manifest.head.uploadID)]
            if let marker { call.query.append((name: "part-number-marker", value: marker)) }
            let document: XMLElement
            do throws(S3Failure) {
                document = try await connection.document(of: call).document
            } catch {
                guard let refusal = error.refusal, refusal.isMissingUpload || refusal.isMissing
                else { throw error }
                return nil
            }
            for element in document.all("Part") {
                guard let number = element.text("PartNumber").flatMap({ Int($0) }),
                    let size = element.text("Size").flatMap({ Int($0) }),
                    let tag = element.text("ETag"), let noted = manifest.parts[number],
                    noted.byteCount == size,
                    S3Object.version(noted.tag) == S3Object.version(tag)
                else { continue }
                kept[number] = noted
            }
            let next = document.text("NextPartNumberMarker")
            marker = document.text("IsTruncated") == "true" && next != marker ? next : nil
        } while marker != nil
        return kept
    }

    private static func newID(
        _ file: S3NewFile,
        _ connection: S3Connection
    ) async throws(S3Failure) -> String {
        var call = S3Call(.post, file.key)
        call.query = [(name: "uploads", value: "")]
        call.fields = file.fields
        if let checksum = connection.configuration.checksum {
            call.fields += [
                (name: "x-amz-checksum-algorithm", value: S3Object.name(of: checksum)),
                (
                    name: "x-amz-checksum-type",
                    value: checksum == .crc32c ? "FULL_OBJECT" : "COMPOSITE"
                ),
            ]
        }
        call.body = S3Call.Body(bytes: [])
        let document = try await connection.document(of: call).document
        guard let id = document.text("UploadId"), !id.isEmpty else {
            throw .failed(.invalidReply("an upload has no id"))
        }
        return id
    }

    private static func notes<Value>(
        in folder: String,
        _ body: () throws(FileSystemError) -> Value
    ) throws(S3Failure) -> Value {
        do throws(FileSystemError) {
            return try body()
        } catch {
            throw .failed(
                FileStoreError(
                    error.kind == .noSpace ? .diskFull : .writeFailed,
                    "The upload's record cannot be stored in the folder “\(folder)”.",
                    cause: error
                )
            )
        }
    }

    // MARK: Parts

    /// Sends a part, unless the server already has it.
    func send(_ number: Int, _ bytes: [UInt8]) async throws(S3Failure) -> S3Part {
        let isHashed =
            manifest != nil || !connection.address.isSecure
            || configuration.payloadSigning == .always
        let hash = isHashed ? Array(SHA256.hash(data: bytes)) : nil
        let hashText = hash.map { Hexadecimal.text(of: $0) }
        if let part = known[number], part.byteCount == bytes.count, part.hash == hashText {
            return part
        }
        var call = S3Call(.put, file.key)
        call.query = [
            (name: "partNumber", value: "\(number)"), (name: "uploadId", value: id),
        ]
        var checksumText: String?
        if let algorithm = configuration.checksum,
            let checksum = try? FileChecksum.of(bytes, by: algorithm)
        {
            let text = S3Object.text(of: checksum)
            call.fields = [
                (name: "x-amz-sdk-checksum-algorithm", value: S3Object.name(of: algorithm)),
                (name: S3Object.field(of: algorithm), value: text),
            ]
            checksumText = text
        }
        call.body = S3Call.Body(bytes: bytes, hash: hash)
        let head = try await connection.head(of: call)
        guard let tag = head.headerFields.first("etag") else {
            throw .failed(.invalidReply("a part has no entity tag"))
        }
        let part = S3Part(
            number: number,
            byteCount: bytes.count,
            tag: tag,
            hash: hashText,
            checksum: checksumText
        )
        manifest?.add(part)
        return part
    }

    // MARK: Completing and aborting

    /// Completes the upload, creating the file from its parts, and returns the entity tag; the server verifies the
    /// checksum.
    func complete(
        _ parts: [S3Part],
        _ condition: [(name: String, value: String)],
        _ checksum: FileChecksum?
    ) async throws(S3Failure) -> (head: HTTPResponse, tag: String?) {
        var body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for part in parts {
            body += "<Part><PartNumber>\(part.number)</PartNumber>"
            body += "<ETag>\(Self.escaped(part.tag))</ETag>"
            if let algorithm = configuration.checksum, let text = part.checksum {
                let name = "Checksum" + S3Object.name(of: algorithm)
                body += "<\(name)>\(text)</\(name)>"
            }
            body += "</Part>"
        }
        body += "</CompleteMultipartUpload>"
        var call = S3Call(.post, file.key)
        call.query = [(name: "uploadId", value: id)]
        call.fields = condition + [(name: "content-type", value: "application/xml")]
        if let checksum, checksum.algorithm == .crc32c {
            call.fields += [
                (name: "x-amz-checksum-type", value: "FULL_OBJECT"),
                (name: S3Object.field(of: .crc32c), value: S3Object.text(of: checksum)),
            ]
        }
        call.body = S3Call.Body(bytes: Array(body.utf8))
        // Repeated explicitly below, because an upload that no longer exists may have become the file.
        call.isRepeatable = false
        // Otherwise a file with these bytes is another program's, whose condition held.
        var mayHaveTakenEffect = mayBeCompleted
        let request = call
        return try await connection.repeating(where: \.mayHaveTakenEffect) {
            () async throws(S3Failure) in
            do throws(S3Failure) {
                let (head, document) = try await connection.document(of: request)
                return (head, document.text("ETag"))
            } catch {
                if mayHaveTakenEffect, let refusal = error.refusal,
                    // The file that violates the condition may be this one.
                    refusal.isMissingUpload || refusal.isFailedCondition,
                    let version = try await completed(parts, checksum)
                {
                    return (HTTPResponse(status: .ok), version.string)
                }
                if error.mayHaveTakenEffect { mayHaveTakenEffect = true }
                throw error
            }
        }
    }

    private func completed(
        _ parts: [S3Part],
        _ checksum: FileChecksum?
    ) async throws(S3Failure) -> FileVersion? {
        let head: HTTPResponse
        do throws(S3Failure) {
            head = try await connection.head(of: S3Call(.head, file.key))
        } catch {
            if error.refusal?.isMissing == true { return nil }
            throw error
        }
        let found = try S3Object.metadata(of: file.path, head.headerFields)
        guard found.size == parts.reduce(0, { $0 + $1.byteCount }) else { return nil }
        if let checksum, found.checksum == checksum { return found.version }
        // The entity tag of a file uploaded in parts is the MD5 of the parts' tags and their number.
        var tags: [UInt8] = []
        for part in parts {
            guard let bytes = Hexadecimal.bytes(of: S3Object.version(part.tag).string) else {
                return nil
            }
            tags += bytes
        }
        let hash = Hexadecimal.text(of: Insecure.MD5.hash(data: tags))
        return found.version.string == "\(hash)-\(parts.count)" ? found.version : nil
    }

    func abandon() async {
        await Self.abort(id, of: file.key, connection)
        manifest?.remove()
    }

    /// Aborts an upload on the server, and waits for it even if the caller is canceled.
    static func abort(_ id: String, of key: String, _ connection: S3Connection) async {
        var call = S3Call(.delete, key)
        call.query = [(name: "uploadId", value: id)]
        let request = call
        await Task { _ = try? await connection.head(of: request) }.value
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing("\"", with: "&quot;")
    }
}
#endif
