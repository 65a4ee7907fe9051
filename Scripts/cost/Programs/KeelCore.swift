import KeelCore

print(try await withRetry(RetryPolicy(attempts: 3)) { attempt in attempt })
