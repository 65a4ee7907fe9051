internal import KeelCore
public import KeelFiles

extension FileStoreError.Code {
    /// The server has no bucket with the configured name.
    public static var bucketNotFound: Self {
        .permanent(
            "Check the bucket's name and the endpoint, or create the bucket: Keel does not create it."
        )
    }
    /// There are no credentials to sign with.
    public static var credentialsMissing: Self {
        .permanent(
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or pass credentials to the adapter."
        )
    }
    /// The server refused the credentials: they are unknown, wrong or expired, or the clock is off.
    public static var credentialsRefused: Self {
        .permanent("Check the access key, its secret and the session token; they may have expired.")
    }
    /// The bucket is in another region than the one that requests are signed for.
    public static var wrongRegion: Self {
        .permanent("Set the adapter's region to the one named in the message.")
    }
    /// The server's reply does not conform to the S3 API.
    public static var invalidReply: Self {
        .permanent(
            "Check the endpoint: it may not be an S3 server, or an intermediary may answer for it."
        )
    }

    /// `permissionDenied`, with advice for a bucket instead of a folder.
    static let accessDenied = Self(
        name: FileStoreError.Code.permissionDenied.name,
        advice:
            "Give the access key the permission: s3:GetObject, PutObject, DeleteObject or ListBucket."
    )
    /// `unsupported`, with advice for a transport that decodes bodies.
    static let decodedBody = Self(
        name: FileStoreError.Code.unsupported.name,
        advice: """
            Use a transport that delivers bodies as they were sent, such as \
            AsyncHTTPClientTransport, or store the object without Content-Encoding.
            """
    )
    /// `unavailable`, with advice for a change that may have taken effect.
    static let outcomeUnknown = Self(
        name: FileStoreError.Code.unavailable.name,
        isTransient: true,
        advice: "Request the file's metadata to see whether the change took effect."
    )
    /// `cancelled`, with advice for a change that may have taken effect.
    static let canceledChange = Self(
        name: FileStoreError.Code.cancelled.name,
        advice: "Request the file's metadata to see whether the change took effect."
    )
}
