#if ServiceLifecycle
import Foundation
import HTTPTypes
import Keel
import KeelServiceLifecycle
import KeelTestKit
import ServiceLifecycle
import Testing

/// Examples from the comments of KeelServiceLifecycle; compiled but not run, see
/// ``CommentExamples``.
extension CommentExamples {
    static func lifecycleService(_ reporter: Reporter) async throws {
        let reports = LifecycleService("reports") {
            try await reporter.run()
        } finish: {
            await reporter.writeLastReport()
        }
        _ = reports
    }
}
#endif
