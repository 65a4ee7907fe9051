import KeelAnalytics
import KeelAnalyticsHTTP

print(SegmentDestination.self)
