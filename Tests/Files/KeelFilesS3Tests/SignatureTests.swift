#if Crypto && AsyncHTTPClient
import KeelTestSupport
import Crypto
import Foundation
import HTTPTypes
import KeelCore
import KeelFiles
import KeelTestKit
import Testing

@testable import KeelFilesS3

@Suite("AWS request signatures")
struct SignatureTests {
    // MARK: AWS's test suite

    @Test(
        "Requests of AWS's suite have the expected canonical form, string to sign and signature",
        .enabled(if: SignatureVector.isPresent, SignatureVector.absence),
        arguments: SignatureVector.all
    )
    func vector(_ vector: SignatureVector) throws {
        let context = vector.context
        let signer = AWSSignatureV4(
            region: context.region,
            service: context.service,
            rules: .init(
                normalizesPath: context.normalize,
                encodesPath: true,
                sendsPayloadHash: context.signsBody
            )
        )
        let time = SignatureTime(try vector.date)
        let hash = Hexadecimal.text(of: SHA256.hash(data: vector.body))
        let (path, query) = AWSSignatureV4.parts(
            of: HTTPRequest(method: .get, scheme: nil, authority: nil, path: vector.target)
        )
        let credentials = AWSCredentials(
            accessKeyID: context.credentials.id,
            secretAccessKey: context.credentials.secret,
            sessionToken: context.credentials.token
        )
        // In the header.
        var fields = vector.fields + [(name: "X-Amz-Date", value: time.text)]
        if let token = credentials.sessionToken, context.omitsToken != true {
            fields.append((name: "X-Amz-Security-Token", value: token))
        }
        if context.signsBody { fields.append((name: "x-amz-content-sha256", value: hash)) }
        let inHeader = CanonicalRequest(
            method: vector.method,
            path: path,
            query: query,
            fields: fields,
            payload: hash,
            rules: signer.rules
        )
        #expect(try inHeader.text == vector.expected("header-canonical-request"))
        let text = inHeader.stringToSign(time, scope: signer.scope(time))
        #expect(try text == vector.expected("header-string-to-sign"))
        let signature = signer.sign(inHeader, by: credentials, at: time).signature
        #expect(try signature == vector.expected("header-signature"))
        // In the query.
        let names = Set(vector.fields.map { $0.name.lowercased() }).sorted()
        var items =
            query + [
                (name: "X-Amz-Algorithm", value: "AWS4-HMAC-SHA256"),
                (
                    name: "X-Amz-Credential",
                    value: "\(credentials.accessKeyID)/\(signer.scope(time))"
                ),
                (name: "X-Amz-Date", value: time.text),
                (name: "X-Amz-Expires", value: "\(context.expiry)"),
                (name: "X-Amz-SignedHeaders", value: names.joined(separator: ";")),
            ]
        if let token = credentials.sessionToken, context.omitsToken != true {
            items.append((name: "X-Amz-Security-Token", value: token))
        }
        let inQuery = CanonicalRequest(
            method: vector.method,
            path: path,
            query: items,
            fields: vector.fields,
            payload: hash,
            rules: signer.rules
        )
        #expect(try inQuery.text == vector.expected("query-canonical-request"))
        #expect(
            try signer.sign(inQuery, by: credentials, at: time).signature
                == vector.expected("query-signature")
        )
    }

    @Test(
        "All vectors of the suite's folder are read",
        .enabled(if: SignatureVector.isPresent, SignatureVector.absence)
    )
    func vectorsAreRead() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: SignatureVector.folder.path
        )
        #expect(SignatureVector.all.count == folders.count)
        #expect(SignatureVector.all.count >= 20)
    }

    // MARK: botocore

    private struct Case: Encodable {
        let method: String
        let scheme: String
        let authority: String
        let path: String
        let fields: [[String]]
        let region: String
        let token: String?
        let seconds: Int
        let expires: Int
        let body: String?
    }

    private struct Answer: Decodable {
        let authorization: String
        let signature: String
    }

    private static let seed: UInt64 = 20_261_123

    @Test(
        "botocore signs 400 random requests identically, in headers and queries",
        .enabled(if: S3Peer.isPresent, S3Peer.absence)
    )
    func differential() async throws {
        var random = SeededRandom(seed: Self.seed)
        let cases = (0..<400).map { _ in Self.randomCase(&random) }
        let answers = try await Self.botocore(cases)
        try #require(answers.count == cases.count)
        for (item, answer) in zip(cases, answers) {
            let credentials = AWSCredentials(
                accessKeyID: "AKIDEXAMPLE",
                secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                sessionToken: item.token
            )
            let signer = AWSSignatureV4(region: item.region, service: "s3", rules: .s3)
            var request = HTTPRequest(
                method: try #require(HTTPRequest.Method(item.method)),
                scheme: item.scheme,
                authority: item.authority,
                path: item.path
            )
            for field in item.fields {
                request.headerFields[try #require(HTTPField.Name(field[0]))] = field[1]
            }
            let date = Date(timeIntervalSince1970: TimeInterval(item.seconds))
            let body = item.body.map { Array($0.utf8) }
            let signed = signer.signed(
                request,
                payload: body.map { .bytes($0) } ?? .unsigned,
                by: credentials,
                at: date
            )
            #expect(
                signed.headerFields[.authorization] == answer.authorization,
                "\(item.method) \(item.path)"
            )
            let presigned = signer.presigned(
                request,
                for: .seconds(item.expires),
                payload: .unsigned,
                by: credentials,
                at: date
            )
            #expect(
                presigned.path?.hasSuffix("&X-Amz-Signature=\(answer.signature)") == true,
                "\(item.method) \(item.path)"
            )
        }
    }

    private static func randomCase(_ random: inout SeededRandom) -> Case {
        let key = text(&random, 1...40, keepsSlashes: true)
        var path = "/" + PercentEncoding.encode(key, keepsSlashes: true)
        // botocore drops one of two items with the same name.
        let items = (0..<Int.random(in: 0...4, using: &random)).map { number in
            (name: text(&random, 1...10) + "\(number)", value: text(&random, 0...20))
        }
        if !items.isEmpty { path += "?" + CanonicalRequest.query(items) }
        var fields: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let name = "x-amz-meta-" + word(&random, 1...8)
            fields[name] = word(&random, 1...6) + "  " + word(&random, 0...6) + ","
        }
        return Case(
            method: ["GET", "PUT", "POST", "DELETE", "HEAD"].randomElement(using: &random) ?? "GET",
            scheme: Bool.random(using: &random) ? "https" : "http",
            authority: ["a.example.com", "127.0.0.1:9000", "b.s3.eu-west-1.amazonaws.com"]
                .randomElement(using: &random) ?? "",
            path: path,
            fields: fields.map { [$0.key, $0.value.trimmingCharacters(in: .whitespaces)] },
            region: ["us-east-1", "eu-central-1"].randomElement(using: &random) ?? "",
            token: Bool.random(using: &random) ? word(&random, 20...60) + "//+=" : nil,
            seconds: Int.random(in: 1_400_000_000...2_000_000_000, using: &random),
            expires: Int.random(in: 1...604_800, using: &random),
            body: Bool.random(using: &random) ? text(&random, 0...50) : nil
        )
    }

    private static let alphabet: [Unicode.Scalar] = Array(
        "abcXYZ019-._~ !\"#$%&'()*+,;<=>?@[\\]^`{|}:äéß日本🦊\u{301}\n\t".unicodeScalars
    )

    private static func text(
        _ random: inout SeededRandom,
        _ count: ClosedRange<Int>,
        keepsSlashes: Bool = false
    ) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: count, using: &random) {
            let isSlash = keepsSlashes && Int.random(in: 0..<6, using: &random) == 0
            text.append(isSlash ? "/" : alphabet.randomElement(using: &random) ?? "x")
        }
        return String(text)
    }

    private static func word(_ random: inout SeededRandom, _ count: ClosedRange<Int>) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        let number = Int.random(in: count, using: &random)
        return String((0..<number).map { _ in letters.randomElement(using: &random) ?? "x" })
    }

    private static func botocore(_ cases: [Case]) async throws -> [Answer] {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try JSONEncoder().encode(cases).write(to: input)
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Support/botocore-signatures.py")
        let run = try await ProgramRun(
            URL(filePath: try #require(S3Peer.interpreter)),
            [script.path, input.path, output.path]
        )
        try #require(run.exitCode == 0, "\(run.errors)")
        return try JSONDecoder().decode([Answer].self, from: Data(contentsOf: output))
    }
}
#endif
