#if Logging

package import Logging

#if Observability
internal import Metrics
#endif

/// Counts dropped records with swift-metrics, if the trait `Observability` is on.
///
/// The counter is `keel.log.dropped`, with the dimensions `level` and `output`.
package enum LogMetrics {
    package static func dropped(_ count: Int, _ level: Logger.Level, output: String) {
        #if Observability
        Counter(
            label: "keel.log.dropped",
            dimensions: [("level", level.rawValue), ("output", output)]
        )
        .increment(by: count)
        #endif
    }
}

#endif
