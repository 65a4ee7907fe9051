#if Logging

package import Logging

#if Observability
internal import Metrics
#endif

/// Counts dropped records with swift-metrics, if the trait `Observability` is on.
///
/// The counter is `keel.log.dropped`, with the dimensions `level` and `output`. Without the trait,
/// each output's statistics have the same numbers.
package enum LogMetrics {
    /// Counts dropped records of a level and an output.
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
