#if Crypto
internal import HTTPTypes
internal import KeelCore
public import KeelFiles

extension S3FileStoreAdapter {
    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        do throws(S3Failure) {
            return try await page(request)
        } catch {
            throw error.error(of: "Listing “\(request.folder)”")
        }
    }

    private func page(_ request: FileListRequest) async throws(S3Failure) -> FilePage {
        var items: [FilePage.Item] = []
        var token: String?
        var isTruncated = true
        // The server's page may have fewer items than requested, and keys that are not file paths.
        while isTruncated, items.count < request.limit {
            try checkCancellation()
            let document = try await document(of: request, token, upTo: request.limit)
            items += try self.items(of: document, request)
            isTruncated = document.text("IsTruncated") == "true"
            let next = document.text("NextContinuationToken")
            guard !isTruncated || next?.isEmpty == false && next != token else {
                throw .failed(.invalidReply("a truncated list has no new continuation token"))
            }
            token = next
        }
        return FilePage(first: request.limit, of: items, isCutOff: isTruncated)
    }

    private func document(
        of request: FileListRequest,
        _ token: String?,
        upTo limit: Int
    ) async throws(S3Failure) -> XMLElement {
        let root = configuration.root.prefix
        var call = S3Call(.get, nil)
        call.query = [
            (name: "list-type", value: "2"), (name: "encoding-type", value: "url"),
            (name: "max-keys", value: "\(limit)"),
            (name: "prefix", value: root + request.folder.prefix),
        ]
        if !request.isRecursive { call.query.append((name: "delimiter", value: "/")) }
        if let token {
            call.query.append((name: "continuation-token", value: token))
        } else if let after = request.after?.string {
            // After a folder means after all of its contents: no key is sorted after this one, which ends with the last
            // character of Unicode.
            let place = after.utf8.last == UInt8(ascii: "/") ? after + "\u{10FFFF}" : after
            call.query.append((name: "start-after", value: root + place))
        }
        return try await connection.document(of: call).document
    }

    private func items(
        of document: XMLElement,
        _ request: FileListRequest
    ) throws(S3Failure) -> [FilePage.Item] {
        let isEncoded = document.text("EncodingType") == "url"
        func path(_ element: XMLElement, _ name: String) -> String? {
            guard let text = element.text(name) else { return nil }
            let key = isEncoded ? PercentEncoding.decode(text, plusIsSpace: true) : text
            let root = configuration.root.prefix
            guard key.utf8.starts(with: root.utf8) else { return nil }
            let path = String(Substring(key.utf8.dropFirst(root.utf8.count)))
            guard path.utf8.starts(with: request.folder.prefix.utf8) else { return nil }
            guard let after = request.after?.string else { return path }
            return FilePaging.precedes(after, path) ? path : nil
        }
        var items: [FilePage.Item] = []
        for element in document.all("Contents") {
            guard let size = element.text("Size").flatMap({ Int($0) }),
                let modified = S3Object.time(element.text("LastModified")),
                let tag = element.text("ETag"), element["Key"] != nil
            else { throw .failed(.invalidReply("an object of a list lacks its size or its time")) }
            guard let text = path(element, "Key") else { continue }
            guard let file = try? FileStorePath(text) else {
                // An empty object with such a key stands for a folder.
                if size > 0 || text.utf8.last != UInt8(ascii: "/") { unlisted(text) }
                continue
            }
            let version = S3Object.version(tag)
            items.append(
                .file(FileSummary(path: file, size: size, modified: modified, version: version))
            )
        }
        for element in document.all("CommonPrefixes") {
            // Compared by bytes: Swift treats a “/” with a combining accent as one character.
            guard let text = path(element, "Prefix"), text.utf8.last == UInt8(ascii: "/") else {
                continue
            }
            guard let folder = try? FileStorePath(String(Substring(text.utf8.dropLast()))) else {
                unlisted(text)
                continue
            }
            items.append(.folder(FileStoreFolder(folder)))
        }
        return items
    }

    private func unlisted(_ path: String) {
        configuration.onUnlistedKey?(configuration.root.prefix + path)
    }

    func checkCancellation() throws(S3Failure) {
        if Task.isCancelled { throw .failed(.cancellation) }
    }
}
#endif
