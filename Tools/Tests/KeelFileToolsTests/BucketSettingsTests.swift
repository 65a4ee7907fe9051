#if os(Linux) || os(macOS)
import HTTPTypes
import KeelFileTools
import KeelFiles
import KeelFilesS3
import KeelHTTP
import KeelTestKit
import KeelToolSupport
import Testing

@Suite("The settings of the services of keel files")
struct BucketSettingsTests {
    @Test("AWS’s region variables are not for R2, whose region is “auto”")
    func region() {
        let environment = ["AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-west-1"]
        func region(_ provider: BucketProvider, _ given: String? = nil) -> String {
            BucketSettings(region: given, provider: provider, environment: environment).region
        }
        #expect(region(.aws) == "eu-central-1")
        #expect(region(.minio) == "eu-central-1")
        #expect(region(.r2) == "auto")
        #expect(region(.r2, "weur") == "weur")
    }

    @Test("Keys are compared and split by bytes")
    func bytesOfKeys() async throws {
        #expect(FilePlace("s3://b/\u{E9}") != FilePlace("s3://b/e\u{301}"))
        #expect(FilePlace("s3://b/\u{301}a") == .bucket(name: "b", key: "\u{301}a"))
        let transfers = FileTransfers(
            BucketSettings(environment: [:]),
            over: ScriptedHTTPTransport(then: .status(.notFound))
        )
        let from = FilePlace.bucket(name: "b", key: "a")
        let inside = FilePlace.bucket(name: "b", key: "a/\u{301}b")
        await #expect(throws: ToolError.self) {
            _ = try await transfers.copy(from: from, to: inside, isRecursive: true)
        }
    }

    @Test("A limited rate gives each request time for the others, and does not delay credentials")
    func limitedRate() async throws {
        var settings = BucketSettings(
            environment: [
                "HOME": "/nowhere", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1/role",
            ]
        )
        settings.parallelFileCount = 16
        settings.rateLimit = RateLimit("16K")
        let bucket = ScriptedHTTPTransport(then: .status(.notFound))
        let role = ScriptedHTTPTransport([.json(#"{"AccessKeyId": "A", "SecretAccessKey": "s"}"#)])
        let transfers = FileTransfers(settings, over: bucket, credentialsOver: role)
        let found = try await transfers.adapter("bucket").metadata(of: "a")
        #expect(found == nil)
        #expect(role.calls.count == 1)
        // 16 files of 4 parts and one request each: a piece of 64 KiB takes 4 seconds.
        let limits = bucket.calls.map { $0.timeouts.firstByte }
        #expect(limits == [Duration.seconds(60 + 80 * 4)])
    }
}
#endif
