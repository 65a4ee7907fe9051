#if os(Linux) || os(macOS)
import KeelFileTools
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
}
#endif
