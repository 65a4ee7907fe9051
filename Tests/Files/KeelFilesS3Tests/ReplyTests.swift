#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelCore
import KeelFiles
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelFilesS3

/// A test of replies that no real server gives on demand.
@Suite("Replies of S3 servers")
struct ReplyTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private static func refusal(
        _ status: HTTPResponse.Status,
        _ code: String,
        _ more: String = "",
        headers: HTTPFields = [:]
    ) -> Answer {
        let text = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code>\(more)</Error>"
        return .status(status, headers: headers, body: Array(text.utf8))
    }

    private static func object(_ text: String, _ more: [String: String] = [:]) -> Answer {
        var headers: HTTPFields = [
            .contentLength: "\(text.utf8.count)", .eTag: "\"e1\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        for (name, value) in more {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return .status(.ok, headers: headers, body: Array(text.utf8))
    }

    /// The first five of ten bytes of an object.
    private static let interrupted = Answer.chunks(
        [Array("01234".utf8)],
        headers: [
            .contentLength: "10", .eTag: "\"e1\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ],
        thenThrow: TransportError(.connectionLost, phase: .readBody)
    )

    // MARK: Retries

    @Test("SlowDown and similar refusals are retried, even for conditional calls")
    func slowDown() async throws {
        for condition in [FileCondition.none, .absent] {
            let transport = ScriptedHTTPTransport([
                Self.refusal(.serviceUnavailable, "SlowDown"),
                Self.refusal(.badRequest, "RequestTimeout"),
                .status(.ok, headers: [.eTag: "\"e1\""]), Self.object("x"),
            ])
            let files = FileStore(try s3Adapter(transport))
            let options = FileWriteOptions(condition: condition)
            let metadata = try await files.write(Data("x".utf8), to: "a", options: options)
            #expect(metadata.version == FileVersion("e1"))
            try transport.verify()
        }
    }

    @Test("A put with a lost reply is retried, and a conditional one is not")
    func lostReplies() async throws {
        let lost = Answer.failure(TransportError(.connectionLost, processed: .maybe))
        for (failure, name) in [
            (lost, "lost"), (Self.refusal(.internalServerError, "InternalError"), "500"),
        ] {
            let plain = ScriptedHTTPTransport([
                failure, .status(.ok, headers: [.eTag: "\"e1\""]), Self.object("x"),
            ])
            try await FileStore(try s3Adapter(plain)).write(Data("x".utf8), to: "a")
            try plain.verify()
            let conditional = ScriptedHTTPTransport([failure])
            let error = await #expect(throws: FileStoreError.self, "\(name)") {
                try await FileStore(try s3Adapter(conditional)).write(
                    Data("x".utf8),
                    to: "a",
                    options: FileWriteOptions(condition: .absent)
                )
            }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("may have taken effect") == true)
            #expect(conditional.calls.count == 1)
        }
    }

    @Test("The error of a canceled put says whether the put may have taken effect")
    func canceledPuts() async throws {
        for processed in [TransportError.Processed.no, .maybe] {
            let transport = ScriptedHTTPTransport([
                .failure(TransportError(.cancelled, processed: processed))
            ])
            let files = FileStore(try s3Adapter(transport))
            let error = await expectError(FileStoreError.self, .cancelled) {
                try await files.write(Data("x".utf8), to: "a")
            }
            let isUnclear = processed == .maybe
            #expect(error?.message.contains("may have taken effect") == isUnclear)
            #expect(error?.code.advice.contains("metadata") == isUnclear)
            #expect(transport.calls.count == 1)
        }
    }

    @Test("Lasting refusals are not retried and map to their codes")
    func refusals() async throws {
        let table: [(HTTPResponse.Status, String, FileStoreError.Code)] = [
            (.forbidden, "AccessDenied", .permissionDenied),
            (.forbidden, "SignatureDoesNotMatch", .credentialsRefused),
            (.forbidden, "InvalidAccessKeyId", .credentialsRefused),
            (.notFound, "NoSuchBucket", .bucketNotFound),
            (.badRequest, "EntityTooLarge", .tooLarge),
            (.badRequest, "BadDigest", .checksumMismatch),
            (.badRequest, "KeyTooLongError", .invalidPath),
            (.notImplemented, "NotImplemented", .unsupported),
            (.movedPermanently, "PermanentRedirect", .wrongRegion),
            (.badRequest, "SomethingNew", .unknown),
        ]
        for (status, code, expected) in table {
            let transport = ScriptedHTTPTransport([Self.refusal(status, code)])
            let error = await #expect(throws: FileStoreError.self) {
                try await FileStore(try s3Adapter(transport)).write(Data("x".utf8), to: "a")
            }
            #expect(error?.code == expected, "\(code)")
            #expect(error?.message.contains(code) == true)
            #expect(error?.code.advice.isEmpty == false)
            #expect(transport.calls.count == 1)
        }
    }

    @Test("The error for a bucket in another region names the region")
    func region() async throws {
        let transport = ScriptedHTTPTransport([
            Self.refusal(.badRequest, "AuthorizationHeaderMalformed", "<Region>eu-west-3</Region>")
        ])
        let error = await expectError(FileStoreError.self, .wrongRegion) {
            try await FileStore(try s3Adapter(transport)).list()
        }
        #expect(error?.message.contains("eu-west-3") == true)
    }

    private final class Renewing: AWSCredentialsProvider {
        let refusals = Counter()
        private func make(_ number: Int) -> AWSCredentials {
            AWSCredentials(
                accessKeyID: "AKID\(number)",
                secretAccessKey: "s",
                sessionToken: "token\(number)"
            )
        }

        func credentials() async throws -> AWSCredentials { make(refusals.count) }

        func credentials(after refused: AWSCredentials) async throws -> AWSCredentials {
            make(refusals.next())
        }
    }

    @Test("Expired credentials are requested again")
    func expiry() async throws {
        let transport = ScriptedHTTPTransport([
            Self.refusal(.badRequest, "ExpiredToken"), Self.object("x"),
        ])
        let adapter = try s3Adapter(transport, credentials: Renewing())
        _ = try await FileStore(adapter).read("a")
        let name = try #require(HTTPField.Name("x-amz-security-token"))
        #expect(transport.calls.map { $0.head.headerFields[name] } == ["token0", "token1"])
    }

    @Test("Expired credentials are requested again if a reply to HEAD does not say that they are")
    func expiryWithoutBody() async throws {
        let transport = ScriptedHTTPTransport([.status(.badRequest), Self.object("x")])
        let adapter = try s3Adapter(transport, credentials: Renewing())
        _ = try await FileStore(adapter).metadata(of: "a")
        let name = try #require(HTTPField.Name("x-amz-security-token"))
        #expect(transport.calls.map { $0.head.headerFields[name] } == ["token0", "token1"])
    }

    // MARK: Copies and uploads

    @Test("A copy that is refused after its reply has started is an error")
    func lateRefusal() async throws {
        let transport = ScriptedHTTPTransport([Self.object(""), Self.refusal(.ok, "AccessDenied")])
        await expectError(FileStoreError.self, .permissionDenied) {
            try await FileStore(try s3Adapter(transport)).copy("a", to: "b")
        }
    }

    @Test(
        "An upload whose completion reply is lost is found to be complete",
        arguments: ["NoSuchUpload", "InvalidPart"]
    )
    func lostCompletion(code: String) async throws {
        let bytes = sampleBytes(1, count: 6 << 20)
        let checksum = try FileChecksum.of(bytes, by: .crc32c)
        let kept = [
            "content-length": "\(bytes.count)", "etag": "\"e-2\"",
            "x-amz-checksum-crc32c": Data(checksum.bytes).base64EncodedString(),
            "x-amz-checksum-type": "FULL_OBJECT",
        ]
        let begun =
            "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
        let transport = ScriptedHTTPTransport([
            .status(.ok, body: Array(begun.utf8)),
            .status(.ok, headers: [.eTag: "\"p1\""]), .status(.ok, headers: [.eTag: "\"p2\""]),
            .failure(TransportError(.connectionLost, processed: .maybe)),
            Self.refusal(.notFound, code), Self.object("", kept), Self.object("", kept),
        ])
        let adapter = try s3Adapter(transport) { configuration in
            configuration.partByteCount = 5 << 20
            configuration.maximumConcurrentParts = 1
        }
        let metadata = try await FileStore(adapter).write(FileContent(bytes), to: "a")
        #expect(metadata.version == FileVersion("e-2"))
        try transport.verify()
    }

    // MARK: Reading

    @Test("A reply with other bytes than the requested part is an error")
    func ignoredRange() async throws {
        for reply in [
            Self.object("0123456789"), Self.object("4567", ["content-range": "bytes 4-7/10"]),
        ] {
            let transport = ScriptedHTTPTransport([reply])
            await expectError(FileStoreError.self, .invalidReply) {
                try await FileStore(try s3Adapter(transport)).read("a", range: .bytes(5, count: 4))
            }
        }
        let part = Self.object("5678", ["content-range": "bytes 5-8/10"])
        let files = FileStore(try s3Adapter(ScriptedHTTPTransport([part])))
        let data = try await files.read("a", range: .bytes(5, count: 4))
        #expect(String(decoding: data, as: UTF8.self) == "5678")
    }

    @Test("An interrupted body resumes at its offset, with the same version")
    func brokenBody() async throws {
        let transport = ScriptedHTTPTransport([
            Self.interrupted,
            Self.object("56789", ["content-range": "bytes 5-9/10"]),
        ])
        let data = try await FileStore(try s3Adapter(transport)).read("a")
        #expect(String(decoding: data, as: UTF8.self) == "0123456789")
        let second = try #require(transport.calls.last).head.headerFields
        #expect(second[.range] == "bytes=5-9")
        #expect(second[.ifMatch] == "\"e1\"")
    }

    @Test("An interrupted body is an error if the object has changed meanwhile")
    func brokenAndChanged() async throws {
        let transport = ScriptedHTTPTransport([
            Self.interrupted,
            Self.refusal(.preconditionFailed, "PreconditionFailed"),
        ])
        await expectError(FileStoreError.self, .conditionFailed) {
            try await FileStore(try s3Adapter(transport)).read("a")
        }
    }

    @Test("A body longer than announced is rejected")
    func tooLong() async throws {
        let transport = ScriptedHTTPTransport([
            Self.object("0123456", ["content-length": "5"]), Self.object("01234"),
        ])
        await expectError(FileStoreError.self, .invalidReply) {
            try await FileStore(try s3Adapter(transport)).read("a")
        }
    }

    @Test(
        "An encoded object is refused if the transport decodes, and is returned as stored otherwise",
        arguments: ["gzip", "br", "GZIP", "aws-chunked,gzip"]
    )
    func encoded(_ coding: String) async throws {
        let answer = Self.object("packed", ["content-encoding": coding])
        let raw = ScriptedHTTPTransport([answer])
        #expect(try await FileStore(try s3Adapter(raw)).read("a") == Data("packed".utf8))
        let decoding = ScriptedHTTPTransport([answer], features: [.streamingUpload])
        let error = await expectError(FileStoreError.self, .unsupported) {
            try await FileStore(try s3Adapter(decoding)).read("a")
        }
        #expect(error?.code.advice.contains("AsyncHTTPClientTransport") == true)
    }

    @Test("An object with an identity coding is read over any transport")
    func unencoded() async throws {
        for coding in ["identity", "aws-chunked", "AWS-Chunked, identity", ""] {
            let answer = Self.object("plain", ["content-encoding": coding])
            let transport = ScriptedHTTPTransport([answer], features: [.streamingUpload])
            #expect(try await FileStore(try s3Adapter(transport)).read("a") == Data("plain".utf8))
        }
    }

    @Test(
        "Bytes that do not match the checksum are reported as damaged",
        arguments: ["crc32c", "sha256"]
    )
    func damage(_ name: String) async throws {
        let algorithm = try #require(FileChecksum.Algorithm(rawValue: name))
        let right = try FileChecksum.of(Array("hello".utf8), by: algorithm)
        let field = ["x-amz-checksum-\(name)": Data(right.bytes).base64EncodedString()]
        let good = ScriptedHTTPTransport([Self.object("hello", field)])
        #expect(try await FileStore(try s3Adapter(good)).read("a").count == 5)
        let bad = ScriptedHTTPTransport([Self.object("hallo", field)])
        await expectError(FileStoreError.self, .damaged) {
            try await FileStore(try s3Adapter(bad)).read("a")
        }
        // The checksum of the parts' checksums says nothing about the bytes.
        let parts = field.merging(["x-amz-checksum-type": "COMPOSITE"]) { $1 }
        let composite = ScriptedHTTPTransport([Self.object("hallo", parts)])
        #expect(try await FileStore(try s3Adapter(composite)).read("a").count == 5)
    }

    @Test("Invalid replies are rejected")
    func nonsense() async throws {
        let bodies = [
            "", "no XML", "<a>", "<a></b>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        ]
        for body in bodies {
            let transport = ScriptedHTTPTransport([.status(.ok, body: Array(body.utf8))])
            let error = await #expect(throws: FileStoreError.self) {
                try await FileStore(try s3Adapter(transport)).list()
            }
            #expect(error?.code == .invalidReply, "\(body)")
        }
        let transport = ScriptedHTTPTransport([.status(.ok, body: Array("x".utf8))])
        await expectError(FileStoreError.self, .invalidReply) {
            try await FileStore(try s3Adapter(transport)).read("a")
        }
    }

    @Test("A server that returns the same page again and again is refused")
    func repeatedPages() async throws {
        let uploads = """
            <ListMultipartUploadsResult><IsTruncated>true</IsTruncated>\
            <NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>1</NextUploadIdMarker>\
            <Upload><Key>a</Key><UploadId>1</UploadId>\
            <Initiated>2027-01-15T08:00:00Z</Initiated></Upload></ListMultipartUploadsResult>
            """
        let page = Answer.status(.ok, body: Array(uploads.utf8))
        let transport = ScriptedHTTPTransport([page, page])
        let adapter = try s3Adapter(transport)
        await expectError(FileStoreError.self, .invalidReply) {
            try await adapter.incompleteUploads()
        }
        let list = """
            <ListBucketResult><IsTruncated>true</IsTruncated>\
            <NextContinuationToken>1</NextContinuationToken></ListBucketResult>
            """
        let empty = Answer.status(.ok, body: Array(list.utf8))
        let store = FileStore(try s3Adapter(ScriptedHTTPTransport([empty, empty])))
        await expectError(FileStoreError.self, .invalidReply) { try await store.list() }
    }

    // MARK: Requests

    @Test("Bodies are hashed over plain connections, and over TLS on request")
    func payloads() async throws {
        let name = try #require(HTTPField.Name("x-amz-content-sha256"))
        let table: [(String, S3FileStoreAdapter.PayloadSigning, Bool)] = [
            ("http://127.0.0.1:9000", .overPlainConnections, true),
            ("https://s3.example.com", .overPlainConnections, false),
            ("https://s3.example.com", .always, true),
        ]
        for (endpoint, signing, isHashed) in table {
            let transport = ScriptedHTTPTransport([
                .status(.ok, headers: [.eTag: "\"e1\""]), Self.object("x"),
            ])
            let adapter = try s3Adapter(transport, endpoint: endpoint) {
                $0.payloadSigning = signing
            }
            try await FileStore(adapter).write(Data("x".utf8), to: "a")
            let field = transport.calls.first?.head.headerFields[name]
            #expect(
                field
                    == (isHashed
                        ? "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
                        : "UNSIGNED-PAYLOAD")
            )
        }
    }

    @Test("AWS addresses have the bucket in the host, and others in the path")
    func addresses() throws {
        func address(
            _ bucket: String,
            _ endpoint: String?,
            _ addressing: S3FileStoreAdapter.Addressing? = nil,
            region: String = "eu-west-1"
        ) throws -> String {
            var configuration = S3FileStoreAdapter.Configuration(
                bucket: bucket,
                region: region,
                endpoint: endpoint
            )
            configuration.addressing = addressing
            let address = try S3Address(configuration)
            return address.scheme + "://" + address.authority + address.path(of: "a b/ü")
        }
        #expect(
            try address("photos", nil) == "https://photos.s3.eu-west-1.amazonaws.com/a%20b/%C3%BC"
        )
        #expect(
            try address("my.photos", nil)
                == "https://s3.eu-west-1.amazonaws.com/my.photos/a%20b/%C3%BC"
        )
        #expect(
            try address("photos", nil, region: "cn-north-1")
                == "https://photos.s3.cn-north-1.amazonaws.com.cn/a%20b/%C3%BC"
        )
        #expect(
            try address("photos", "http://127.0.0.1:9000/")
                == "http://127.0.0.1:9000/photos/a%20b/%C3%BC"
        )
        #expect(
            try address("photos", "HTTPS://Host.example:443/s3", .virtualHost)
                == "https://photos.host.example/s3/a%20b/%C3%BC"
        )
        for endpoint in ["127.0.0.1", "ftp://a", "http://", "http://u:p@a", "http://a/?x"] {
            #expect(throws: FileStoreError.self, "\(endpoint)") { try address("photos", endpoint) }
        }
        for bucket in ["", "ab", "a/b", "..a", "a?b", "a b c"] {
            #expect(throws: FileStoreError.self, "\(bucket)") { try address(bucket, nil) }
        }
    }

    @Test("Neither errors nor descriptions contain a secret")
    func secrets() async throws {
        let transport = ScriptedHTTPTransport([
            Self.refusal(
                .forbidden,
                "SignatureDoesNotMatch",
                "<StringToSign>the secret</StringToSign>"
            )
        ])
        let adapter = try s3Adapter(transport)
        var texts = ["\(adapter)", String(reflecting: adapter), "\(adapter.configuration)"]
        var dumped = ""
        dump(adapter, to: &dumped)
        texts.append(dumped)
        do {
            _ = try await FileStore(adapter).list()
        } catch {
            texts += ["\(error)", String(reflecting: error), error.message]
        }
        let environment = EnvironmentAWSCredentials(environment: [
            "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "the secret",
            "AWS_SESSION_TOKEN": "the token",
        ])
        texts += ["\(environment)", String(reflecting: environment)]
        #expect(texts.count == 9)
        for text in texts { #expect(!text.contains("the secret") && !text.contains("the token")) }
        #expect(try await environment.credentials().secretAccessKey == "the secret")
        let missing = EnvironmentAWSCredentials(environment: ["AWS_ACCESS_KEY_ID": "AKID"])
        let error = await expectError(FileStoreError.self, .credentialsMissing) {
            try await missing.credentials()
        }
        #expect(error?.message.contains("AWS_SECRET_ACCESS_KEY") == true)
    }
}
#endif
