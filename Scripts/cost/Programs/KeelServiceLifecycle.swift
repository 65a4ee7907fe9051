// Traits: ServiceLifecycle
import KeelServiceLifecycle
import ServiceLifecycle

try await LifecycleService("cost", run: {}).run()
