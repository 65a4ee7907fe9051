#if Crypto
internal import Crypto
internal import HTTPTypes
public import KeelFiles
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension S3FileStoreAdapter {
    private static let mostKeys = 1_000

    public func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>] {
        var results: [Result<Bool, FileStoreError>] = []
        var rest = paths[...]
        while !rest.isEmpty, results.count == paths.count - rest.count {
            let part = Array(rest.prefix(Self.mostKeys))
            rest = rest.dropFirst(part.count)
            do throws(S3Failure) {
                results += try await deleteTogether(part)
            } catch {
                guard error.refusal?.isNotImplemented == true else {
                    let failure = error.error(of: "Deleting \(part.count) files", isWrite: true)
                    return results + part.map { _ in .failure(failure) }
                }
                connection.lacksDeleteObjects.withLock { $0 = true }
                results += await deleteOneByOne(part)
            }
        }
        return results
    }

    private func deleteTogether(
        _ paths: [FileStorePath]
    ) async throws(S3Failure) -> [Result<Bool, FileStoreError>] {
        let keys = paths.map { try? checkedKey($0) }
        // A key that is too long or cannot be written in XML is deleted separately.
        let together = keys.map { $0.flatMap(S3Removal.element) }
        guard !connection.lacksDeleteObjects.withLock({ $0 }),
            together.contains(where: { $0 != nil })
        else { return await deleteOneByOne(paths) }
        try checkCancellation()
        let body = S3Removal.document(of: together.compactMap { $0 })
        var call = S3Call(.post, nil)
        call.query = [(name: "delete", value: "")]
        call.fields = [
            (name: "content-type", value: "application/xml"),
            (
                name: "content-md5",
                value: Data(Insecure.MD5.hash(data: body)).base64EncodedString()
            ),
        ]
        call.body = S3Call.Body(bytes: body)
        let reply = try await connection.document(of: call)
        let outcomes = try S3Removal.outcomes(in: reply.document, reply.head)
        var results: [Result<Bool, FileStoreError>] = []
        for (index, path) in paths.enumerated() {
            guard together[index] != nil, let key = keys[index] else {
                results.append(await deleteOneByOne([path])[0])
                continue
            }
            switch outcomes[Array(key.utf8)] {
            case .deleted?: results.append(.success(true))
            case .refused(let refusal)? where refusal.isMissing: results.append(.success(false))
            // Retried with the retry policy, as a separate request.
            case .refused(let refusal)? where refusal.isPassing || refusal.isUnclear:
                results.append(await deleteOneByOne([path])[0])
            case .refused(let refusal)?:
                results.append(.failure(refusal.error(of: "Deleting “\(path)”", isWrite: true)))
            case nil:
                let text = "the server does not report whether it deleted “\(path)”"
                results.append(.failure(.invalidReply(text)))
            }
        }
        return results
    }
}

enum S3Removal {
    enum Outcome: Hashable {
        case deleted
        case refused(S3ErrorReply)
    }

    /// Returns the element of a key, or nil if XML 1.0 cannot represent it (section 2.2).
    static func element(of key: String) -> String? {
        var text = ""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            // Unescaped, a parser would replace them with other whitespace.
            case "\t", "\n", "\r": text += "&#\(scalar.value);"
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": return nil
            default: text.unicodeScalars.append(scalar)
            }
        }
        return "<Object><Key>\(text)</Key></Object>"
    }

    static func document(of elements: [String]) -> [UInt8] {
        let begin = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        return Array((begin + elements.joined() + "</Delete>").utf8)
    }

    static func outcomes(
        in document: XMLElement,
        _ head: HTTPResponse
    ) throws(S3Failure) -> [[UInt8]: Outcome] {
        guard document.name == "DeleteResult" else {
            throw .failed(.invalidReply("it is not a DeleteResult"))
        }
        var outcomes: [[UInt8]: Outcome] = [:]
        for element in document.all("Deleted") {
            if let key = element.text("Key") { outcomes[Array(key.utf8)] = .deleted }
        }
        for element in document.all("Error") {
            guard let key = element.text("Key") else { continue }
            outcomes[Array(key.utf8)] = .refused(S3ErrorReply(head, element))
        }
        return outcomes
    }
}
#endif
