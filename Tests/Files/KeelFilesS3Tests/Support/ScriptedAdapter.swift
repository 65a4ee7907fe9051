#if Crypto
import Foundation
import KeelFilesS3
import KeelHTTP
import KeelTestKit

/// Makes an adapter over scripted replies: it waits for nothing, and its clock always shows the same time.
func s3Adapter(
    _ transport: some HTTPTransport,
    endpoint: String? = "http://127.0.0.1:9000",
    credentials: any AWSCredentialsProvider = AWSCredentials(
        accessKeyID: "AKID",
        secretAccessKey: "the secret",
        sessionToken: "the token"
    ),
    watchClock: any Clock<Duration> = ContinuousClock(),
    _ change: (inout S3FileStoreAdapter.Configuration) -> Void = { _ in }
) throws -> S3FileStoreAdapter {
    var configuration = S3FileStoreAdapter.Configuration(
        bucket: "bucket",
        region: "us-east-1",
        endpoint: endpoint,
        credentials: credentials
    )
    change(&configuration)
    return try S3FileStoreAdapter(
        configuration,
        transport: transport,
        clock: ImmediateClock(),
        watchClock: watchClock,
        now: { Date(timeIntervalSince1970: 1_800_000_000) }
    )
}
#endif
