import Foundation
import KeelAnalytics

let analytics = try AnalyticsService(
    at: URL.temporaryDirectory.appending(path: "cost"),
    configuration: AnalyticsConfiguration()
)
analytics.trackEvent("opened")
_ = await analytics.flush()
