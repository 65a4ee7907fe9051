#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelFilesS3
import KeelTestSupport
import Testing

/// A request of AWS's signature test suite, published at awslabs/aws-c-auth.
struct SignatureVector: Sendable, CustomTestStringConvertible {
    struct Context: Decodable, Sendable {
        struct Credentials: Decodable, Sendable {
            let id: String
            let secret: String
            let token: String?

            enum CodingKeys: String, CodingKey {
                case token
                case id = "access_key_id"
                case secret = "secret_access_key"
            }
        }

        let credentials: Credentials
        let expiry: Int
        let normalize: Bool
        let region: String
        let service: String
        let signsBody: Bool
        let timestamp: String
        let omitsToken: Bool?

        enum CodingKeys: String, CodingKey {
            case credentials, normalize, region, service, timestamp
            case expiry = "expiration_in_seconds"
            case signsBody = "sign_body"
            case omitsToken = "omit_session_token"
        }
    }

    let name: String
    let context: Context
    let method: String
    let target: String
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    var testDescription: String { name }

    /// The folder of the vectors, which are not part of this repository.
    static let folder = URL.conformance.appendingPathComponent("aws-sigv4")

    static let isPresent = FileManager.default.fileExists(atPath: folder.path)

    static let absence: Comment =
        "SKIPPED: there are no vectors in \(folder.path); KEEL_CONFORMANCE names a folder"

    static let all: [SignatureVector] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { try? SignatureVector($0) }
    }()

    init(_ name: String) throws {
        self.name = name
        let folder = Self.folder.appending(path: name)
        context = try JSONDecoder().decode(
            Context.self,
            from: Data(contentsOf: folder.appending(path: "context.json"))
        )
        let text = try String(contentsOf: folder.appending(path: "request.txt"), encoding: .utf8)
        let parts = text.components(separatedBy: "\n\n")
        body = Array((parts.count > 1 ? parts[1] : "").utf8)
        var lines = parts[0].split(separator: "\n").map(String.init)
        let start = lines.removeFirst()
        method = String(start.prefix { $0 != " " })
        target = String(start.dropFirst(method.count + 1).dropLast(" HTTP/1.1".count))
        var fields: [(name: String, value: String)] = []
        for line in lines {
            if line.hasPrefix(" "), let last = fields.indices.last {
                // A continuation of the previous line.
                fields[last].value += " " + line.trimmingCharacters(in: .whitespaces)
            } else {
                let name = line.prefix { $0 != ":" }
                fields.append((String(name), String(line.dropFirst(name.count + 1))))
            }
        }
        self.fields = fields
    }

    /// Returns the text of one of its files.
    func expected(_ file: String) throws -> String {
        let file = Self.folder.appending(path: name).appending(path: file + ".txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.trimmingCharacters(in: .newlines)
    }

    var date: Date { get throws { try Date(context.timestamp, strategy: .iso8601) } }
}
#endif
