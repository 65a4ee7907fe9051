public import KeelAnalytics
public import KeelCache
public import KeelFiles
public import KeelLocation
public import KeelRepositories
public import KeelSecrets
public import KeelSync

#if Crypto
public import KeelSecurity
#endif

// Observations of the areas that report a value for each call.

extension KeelObservation {
    /// Creates an observation of a file store's call, without the file's path.
    public init(_ call: FileStoreObservation) {
        self.init(
            .files,
            call.operation.rawValue,
            duration: call.duration,
            details: ["bytes": "\(call.byteCount)"],
            failure: call.failure?.name
        )
    }

    /// Creates an observation of a cache tier's call.
    public init(_ call: CacheTierObservation) {
        self.init(
            .caches,
            call.operation.rawValue,
            duration: call.duration,
            details: ["records": "\(call.recordCount)", "bytes": "\(call.byteCount)"],
            failure: call.failure?.name
        )
    }

    /// Creates an observation of a secret store's call.
    public init(_ call: SecretStoreObservation) {
        self.init(
            .secrets,
            call.operation.rawValue,
            duration: call.duration,
            failure: call.failure?.name
        )
    }

    /// Creates an observation of the use of a source of positions.
    public init(_ use: LocationObservation) {
        self.init(
            .location,
            use.operation.rawValue,
            duration: use.duration,
            details: ["fixes": "\(use.fixCount)"],
            failure: use.failure?.name
        )
    }

    /// Creates an observation of a step of a load, without the resource's key.
    public init(_ step: ResourceObservation) {
        var details = ["found": "\(step.isFound)"]
        if let repository = step.repository { details["repository"] = repository }
        self.init(
            .repositories,
            step.source.rawValue,
            duration: step.duration,
            details: details,
            failure: step.failure?.name
        )
    }

    #if Crypto
    /// Creates an observation of an encryption or a decryption.
    public init(_ call: SecurityObservation) {
        self.init(
            .security,
            call.operation.rawValue,
            duration: call.duration,
            details: ["bytes": "\(call.byteCount)"],
            failure: call.failure?.name
        )
    }
    #endif

    /// Creates an observation of an event that was tracked, refused or delivered.
    public init(_ observation: AnalyticsObservation) {
        switch observation {
        case .tracked(let kind): self.init(tracked: kind)
        case .refused(let code): self.init(.analytics, "track", failure: code.name)
        case .delivered(let report): self.init(report)
        }
    }

    private init(tracked kind: AnalyticsRecord.Kind) {
        let details =
            switch kind {
            case .event(let name): ["event": name]
            case .screen(let name): ["screen": name]
            case .identify: ["kind": "identify"]
            case .userProperties: ["kind": "userProperties"]
            }
        self.init(.analytics, "track", details: details)
    }

    private init(_ report: DeliveryReport) {
        var details = [
            "destination": report.destination, "records": "\(report.recordCount)",
        ]
        var failure: String?
        switch report.outcome {
        case .settled(let rejected):
            if !rejected.isEmpty { details["rejected"] = "\(rejected.count)" }
        case .tooLarge: details["outcome"] = "tooLarge"
        case .unsent: details["outcome"] = "unsent"
        case .unacceptable: failure = "unacceptable"
        case .postponed: failure = "postponed"
        case .unknown: failure = "unknown"
        case .misconfigured: failure = "misconfigured"
        }
        self.init(
            .analytics,
            "deliver",
            duration: report.duration,
            details: details,
            failure: failure
        )
    }

    /// Creates an observation of a write in an outbox, without its key and contents.
    public init(_ event: OutboxEvent) {
        switch event {
        case .accepted(let write):
            self.init(.outbox, "send", details: ["kind": write.kind])
        case .postponed(let write, _, let pause):
            let details = ["kind": write.kind, "pause": "\(pause)"]
            self.init(.outbox, "send", details: details, failure: "postponed")
        case .rejected(let write, _):
            self.init(.outbox, "send", details: ["kind": write.kind], failure: "rejected")
        case .damaged:
            self.init(.outbox, "read", failure: "damaged")
        case .storeFailed(let error, let pause):
            let details = ["pause": "\(pause)"]
            self.init(.outbox, "read", details: details, failure: error.code.name)
        }
    }
}
